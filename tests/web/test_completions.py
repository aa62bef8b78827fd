"""The raw route, over a scripted network."""

import pytest

from tests.web.conftest import events_of

COMPLETIONS = "/v1/completions"
PIECES = ["\n a</think>", "<tool_call>{}</tool_", "call> \n"]


def test_the_text_is_raw_in_both_modes(serve):
    server = serve(PIECES)
    whole = server.client.post(COMPLETIONS, json={"prompt": "hi"}).get_json()
    assert whole["id"].startswith("cmpl-")
    assert (whole["object"], whole["model"]) == ("text_completion", "maple-preview")
    assert whole["choices"] == [{"index": 0, "text": "".join(PIECES), "logprobs": None, "finish_reason": "stop"}]
    body = {"prompt": "hi", "stream": True, "stream_options": {"include_usage": True}}
    *chunks, usage, done = events_of(server.client.post(COMPLETIONS, json=body))
    assert done == "[DONE]"
    assert (usage["choices"], usage["usage"]) == ([], whole["usage"])
    assert "".join(chunk["choices"][0]["text"] for chunk in chunks) == "".join(PIECES)
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks] == [None, None, None, "stop"]
    assert {chunk["object"] for chunk in chunks} == {"text_completion"}


def test_a_stop_string_cuts_the_raw_text(serve):
    body = {"prompt": "hi", "stop": "</th"}
    assert serve(PIECES).client.post(COMPLETIONS, json=body).get_json()["choices"][0]["text"] == "\n a"


def test_no_text_at_all(serve):
    server = serve([])
    assert server.client.post(COMPLETIONS, json={"prompt": "hi"}).get_json()["choices"][0]["text"] == ""
    chunks = events_of(server.client.post(COMPLETIONS, json={"prompt": "hi", "stream": True}))
    assert [chunk["choices"][0]["text"] for chunk in chunks[:-1]] == [""]


@pytest.mark.parametrize("prompt", ["hi", ["hi"], "ids", ["ids"]])
def test_every_form_of_prompt_feeds_the_same_ids(serve, prompt):
    server = serve()
    ids = server.engine.require_ready().tokenizer.encode("hi")
    prompt = ids if prompt == "ids" else [ids] if prompt == ["ids"] else prompt
    reply = server.client.post(COMPLETIONS, json={"prompt": prompt}).get_json()
    assert reply["usage"]["prompt_tokens"] == len(ids)
    assert server.model.fed[0][: len(ids)] == ids


@pytest.mark.parametrize("token", [-1, 2**32, 2**63, 2**70])
def test_ids_past_the_vocabulary_are_refused_and_harm_nothing(serve, token):
    server = serve()
    response = server.client.post(COMPLETIONS, json={"prompt": [token]})
    assert (response.status_code, response.get_json()["error"]["param"]) == (400, "prompt")
    assert server.client.post(COMPLETIONS, json={"prompt": [1]}).status_code == 200
