"""Section J: the event stream."""

import threading
import time

import pytest

from tests.application import CHAT, COMPLETIONS, HI, error_of, events_of, serving, strictly
from tests.cases.asking import PROMPT, ask
from tests.scripted import is_idle, wait_until

STREAM = HI | {"stream": True}
USAGE = {"stream_options": {"include_usage": True}}


def open_stream(served, body=STREAM, path=CHAT):
    """The response and its blocks as they leave."""
    response = served.client.post(path, json=body)
    assert response.status_code == 200
    return response, (block.decode() for block in response.iter_encoded())


@pytest.mark.parametrize(("path", "body"), [(CHAT, STREAM), (COMPLETIONS, PROMPT | {"stream": True})])
def test_c59_headers(client, path, body):
    response = client.post(path, json=body)
    assert response.headers["Content-Type"].startswith("text/event-stream")
    assert response.headers["Cache-Control"] == "no-cache"
    assert response.headers["X-Accel-Buffering"] == "no"
    assert "Content-Length" not in response.headers
    response.close()


def test_c59_every_chunk():
    with serving(["pl", "an", "</think>", "ok"]) as served:
        *chunks, usage = events_of(served.client.post(CHAT, json=STREAM | USAGE | {"model": "m"}))
    assert [(chunk["choices"][0]["delta"], chunk["choices"][0]["finish_reason"]) for chunk in chunks] == [
        ({"role": "assistant", "content": ""}, None),
        ({"reasoning_content": "pl"}, None),
        ({"reasoning_content": "an"}, None),
        ({"content": "ok"}, None),
        ({}, "stop"),
    ]
    assert {chunk["object"] for chunk in [*chunks, usage]} == {"chat.completion.chunk"}
    assert len({(chunk["id"], chunk["created"], chunk["model"]) for chunk in [*chunks, usage]}) == 1
    assert (usage["model"], usage["choices"], usage["usage"]["completion_tokens"]) == ("m", [], 5)


def test_c59_ids_differ_between_requests(client):
    ids = {client.post(CHAT, json=HI).json["id"] for _ in range(3)}
    ids |= {events_of(client.post(CHAT, json=STREAM))[0]["id"] for _ in range(3)}
    assert len(ids) == 6
    assert all(reply_id.startswith("chatcmpl-") for reply_id in ids)


@pytest.mark.parametrize(
    "options", [{}, {"stream_options": None}, {"stream_options": {}}, {"stream_options": {"include_usage": False}}]
)
def test_c59_usage_only_when_asked_for(client, options):
    events = events_of(client.post(CHAT, json=STREAM | options))
    assert all("usage" not in event and event["choices"] for event in events)


@pytest.mark.parametrize("options", [{"include_usage": True}, {"include_usage": "x"}, 5, []])
def test_d11_stream_options_without_stream_are_ignored(client, options):
    for stream in ({}, {"stream": False}, {"stream": None}):
        assert "usage" in client.post(CHAT, json=HI | stream | {"stream_options": options}).json


@pytest.mark.parametrize("options", [{"include_usage": "x"}, 5, [], "x"])
def test_stream_options_that_are_refused(client, options):
    error = error_of(client.post(CHAT, json=STREAM | {"stream_options": options}), 400)
    assert error["param"].startswith("stream_options")


@pytest.mark.parametrize(
    ("path", "body", "first"),
    [(CHAT, STREAM, '{"role": "assistant", "content": ""}'), (COMPLETIONS, PROMPT | {"stream": True}, ": keep-alive")],
)
def test_c59_the_first_bytes_leave_before_the_first_token(path, body, first):
    with serving() as served:
        served.model.gates[0] = threading.Event()
        response, blocks = open_stream(served, body, path)
        assert first in next(blocks)
        assert not served.model.gates[0].is_set()
        served.model.gates[0].set()
        assert list(blocks)[-1] == "data: [DONE]\n\n"
        response.close()


def test_c59_tokens_leave_one_by_one():
    with serving(["a", "b", "c"]) as served:
        served.model.gates = {1: threading.Event(), 2: threading.Event()}
        response, blocks = open_stream(served)
        next(blocks)
        for n, text in enumerate("abc", start=1):
            assert f'"{text}"' in next(blocks)
            served.model.gates.get(n, threading.Event()).set()
        response.close()


@pytest.mark.parametrize(
    ("pieces", "fails_at", "deltas"),
    [
        pytest.param(["t"], 0, [], id="C61-before-the-first-piece"),
        pytest.param(
            ["t</think>", "ab", "c"], 2, [{"reasoning_content": "t"}, {"content": "ab"}], id="C61-in-the-answer"
        ),
        pytest.param(
            ["t</thi", "nk>"], 1, [{"reasoning_content": "t"}, {"reasoning_content": "</thi"}], id="C61-in-a-marker"
        ),
        pytest.param(
            ["t</think>a", " <tool_c", "x"],
            2,
            [{"reasoning_content": "t"}, {"content": "a"}, {"content": " <tool_c"}],
            id="C61-in-a-tag",
        ),
        pytest.param(
            ["t</think>Hi", "\nUs", "x"],
            2,
            [{"reasoning_content": "t"}, {"content": "Hi"}, {"content": "\nUs"}],
            id="C61-in-a-stop-string",
        ),
    ],
)
def test_failure_in_mid_stream(pieces, fails_at, deltas, caplog):
    with serving(pieces) as served:
        served.model.fails_at = fails_at
        extra = {"stop": "\nUser:", "tools": [{"type": "function", "function": {"name": "f"}}]}
        response = served.client.post(CHAT, json=STREAM | USAGE | extra)
        assert response.status_code == 200
        opening, *chunks, error = events_of(response)
        assert opening["choices"][0]["delta"]["role"] == "assistant"
        said = [chunk["choices"][0]["delta"] for chunk in chunks]
        assert _joined(said) == _joined(deltas)
        assert all(chunk["choices"][0]["finish_reason"] is None for chunk in chunks)
        assert error.keys() == {"error"}
        check_failure(error["error"])
        assert "secret.py" in caplog.text  # the log says what the client is not told
        assert is_idle(served.engine)
        check_failure(error_of(served.client.post(CHAT, json=HI | extra), 500))
        assert is_idle(served.engine)
        served.model.fails_at = None
        assert ask(served.client, HI).finish_reason == "stop"


def check_failure(error):
    assert (error["type"], error["param"], error["code"]) == ("server_error", None, None)
    for word in ("secret", "RuntimeError", "Traceback", ".py"):
        assert word not in error["message"]


def _joined(deltas):
    return [(key, "".join(delta.get(key, "") for delta in deltas)) for key in ("reasoning_content", "content")]


@pytest.mark.parametrize("fails_at", [0, 1])
def test_c61_failure_on_the_raw_route(fails_at):
    with serving(["ab", "c"]) as served:
        served.model.fails_at = fails_at
        *chunks, error = events_of(served.client.post(COMPLETIONS, json=PROMPT | {"stream": True}))
        assert "".join(chunk["choices"][0]["text"] for chunk in chunks) == "ab"[: 2 * fails_at]
        check_failure(error["error"])
        check_failure(error_of(served.client.post(COMPLETIONS, json=PROMPT), 500))


@pytest.mark.parametrize(
    ("path", "body", "settings", "status"),
    [
        pytest.param(CHAT, HI | {"temperature": 9}, {}, 400, id="C62-validation"),
        pytest.param(CHAT, HI | {"chat_template_kwargs": {"tools": 1}}, {}, 400, id="C62-template"),
        pytest.param(CHAT, HI, {"max_prompt_tokens": 3}, 400, id="C62-length"),
        pytest.param(COMPLETIONS, {"prompt": [10**6]}, {}, 400, id="C62-token-ids"),
        pytest.param(CHAT, HI, {"api_key": "k"}, 401, id="C62-key"),
        pytest.param(CHAT, HI | {"model": "other"}, {"strict_model": True}, 404, id="C62-model"),
    ],
)  # a full line, a wait too long, a model not there: tests/cases/test_lifecycle.py
def test_what_is_known_before_the_first_byte_is_a_status_in_a_stream_too(path, body, settings, status):
    with serving(**settings) as served:
        whole = error_of(served.client.post(path, json=body), status)
        assert error_of(served.client.post(path, json=body | {"stream": True}), status) == whole
        assert served.model.fed == []


@pytest.mark.parametrize(
    ("pieces", "gate", "extra"),
    [
        pytest.param(["t</think>", "ok"], 0, {}, id="C63-before-token-one"),
        pytest.param(["t</think>", "ok"], 1, {}, id="C63-between-tokens"),
        pytest.param(["t</thi", "nk>ok"], 1, {}, id="C63-while-a-marker-is-held"),
        pytest.param(["t", "u</think>", "ok"], 1, {"include_reasoning": False}, id="C63-hidden-thought"),
    ],
)
def test_silence_is_filled_with_comments(pieces, gate, extra):
    with serving(pieces, keepalive_seconds=0.03) as served:
        served.model.gates[gate] = threading.Event()
        response, blocks = open_stream(served, STREAM | extra)
        seen = [next(blocks)]
        while seen[-2:] != [": keep-alive\n\n"] * 2:
            seen.append(next(blocks))
        served.model.gates[gate].set()
        seen += blocks
        response.close()
    assert '"role": "assistant"' in seen[0]
    data = [block for block in seen if not block.startswith(":")]
    assert all(block.startswith("data: ") for block in data)
    answers = [strictly(block.removeprefix("data: "))["choices"][0]["delta"].get("content") for block in data[:-1]]
    assert "".join(filter(None, answers)) == "ok"


def test_c63_hidden_thoughts_that_go_on_are_silence_too():
    """Much text comes in and none goes out."""
    with serving(["a "], ends=False, keepalive_seconds=0.05) as served:
        served.model.delay = 0.01
        response, blocks = open_stream(served, STREAM | {"include_reasoning": False})
        assert '"role": "assistant"' in next(blocks)
        assert [next(blocks) for _ in range(3)] == [": keep-alive\n\n"] * 3
        response.close()
        assert wait_until(lambda: is_idle(served.engine))


def test_c63_no_comments_while_text_flows():
    with serving(["a"] * 30, keepalive_seconds=5) as served:
        assert ": keep-alive" not in served.client.post(CHAT, json=STREAM).text


def test_d20_the_same_seed_is_the_same_text_streamed_or_not(real_client):
    body = HI | {"seed": 7, "temperature": 1, "max_tokens": 20}
    started = time.monotonic()
    replies = [ask(real_client, body, stream=stream) for stream in (False, True, False)]
    assert replies[0] == replies[1] == replies[2]
    assert ask(real_client, body | {"seed": 8}) != replies[0]
    assert time.monotonic() - started < 60
