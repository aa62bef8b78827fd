"""The chat route, over a scripted network."""

import json

import pytest

from tests.web.conftest import CHAT, HI, events_of

CALL = '<tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call>'
TOOLS = [{"type": "function", "function": {"name": "f"}}, {"type": "function", "function": {"name": "g"}}]


def both_ways(server, body):
    """The unstreamed reply, and the same put together from a stream; ids are left out."""
    whole = server.client.post(CHAT, json=body).get_json()
    stream = events_of(
        server.client.post(CHAT, json=body | {"stream": True, "stream_options": {"include_usage": True}})
    )
    assert stream.pop() == "[DONE]"
    usage = stream.pop()
    assert usage["choices"] == []
    message, finish_reason = {"content": "", "reasoning_content": "", "tool_calls": []}, None
    for chunk in stream:
        (choice,) = chunk["choices"]
        assert finish_reason is None, "nothing comes after the finish chunk"
        finish_reason = choice["finish_reason"]
        for name, value in choice["delta"].items():
            assert value is not None
            if name != "role":
                message[name] += value
    calls = [{name: call[name] for name in ("type", "function")} for call in message["tool_calls"]]
    assert [call["index"] for call in message["tool_calls"]] == list(range(len(calls)))
    streamed = (message["content"], message["reasoning_content"], calls, finish_reason, usage["usage"])
    return whole, streamed


@pytest.mark.parametrize(
    ("pieces", "options", "expected"),
    [
        (["We add 2", "</think>", "\n\n391"], {}, ("391", "We add 2", 0, "stop")),
        (["one two", " three"], {}, ("", "one two three", 0, "stop")),
        (["one", " two", " three"], {"max_tokens": 2}, ("", "one two", 0, "length")),
        (["x </", "thi"], {"max_tokens": 2}, ("", "x </thi", 0, "length")),
        (["t</think>", CALL], {"tools": TOOLS}, (None, "t", 1, "tool_calls")),
        (["t</think>", CALL, "\n", CALL], {"tools": TOOLS}, (None, "t", 2, "tool_calls")),
        (["t</think>ab", CALL], {"tools": TOOLS}, ("ab", "t", 1, "tool_calls")),
        (["t</think>", CALL, "more"], {"tools": TOOLS, "max_tokens": 2}, (None, "t", 1, "length")),
        (["t</think>", CALL], {"tools": TOOLS, "tool_choice": "none"}, (CALL, "t", 0, "stop")),
        (["t</think>", CALL], {}, (CALL, "t", 0, "stop")),
        (["t</think>no need"], {"tools": TOOLS, "tool_choice": "required"}, ("no need", "t", 0, "stop")),
        (["long", "</think>", "391"], {"include_reasoning": False}, ("391", "", 0, "stop")),
        (["391"], {"chat_template_kwargs": {"enable_thinking": False}}, ("391", "", 0, "stop")),
        (["one four", " five</think>four"], {"stop": "four"}, ("", "one ", 0, "stop")),
    ],
)
def test_both_modes_say_the_same(serve, pieces, options, expected):
    server = serve(pieces)
    whole, streamed = both_ways(server, HI | options)
    choice = whole["choices"][0]
    message = choice["message"]
    assert message["role"] == "assistant"
    calls = message.get("tool_calls", [])
    content, reasoning, num_calls, finish_reason = expected
    assert (message["content"], len(calls), choice["finish_reason"]) == (content, num_calls, finish_reason)
    assert message.get("reasoning_content") == (reasoning or None)
    assert ("tool_calls" in message) == bool(num_calls)
    without_ids = [{name: call[name] for name in ("type", "function")} for call in calls]
    assert streamed == (content or "", reasoning, without_ids, finish_reason, whole["usage"])


def test_the_usage_counts_ids_even_of_hidden_reasoning(serve):
    server = serve(["We", " add", "</think>", "391"])
    for options in ({}, {"include_reasoning": False}):
        usage = server.client.post(CHAT, json=HI | options).get_json()["usage"]
        assert usage["completion_tokens"] == 5
        assert usage["total_tokens"] == usage["prompt_tokens"] + 5
        assert usage["completion_tokens_details"] == {"reasoning_tokens": 2}
        assert usage["prompt_tokens_details"] == {"cached_tokens": 0}


def test_all_of_an_unclosed_thought_counts_as_reasoning(serve):
    usage = serve(["We", " add"]).client.post(CHAT, json=HI).get_json()["usage"]
    assert usage["completion_tokens_details"]["reasoning_tokens"] == usage["completion_tokens"] == 3


def test_the_shape_of_a_stream(serve):
    response = serve(["t</think>a", "b"]).client.post(CHAT, json=HI | {"stream": True, "model": "mine"})
    assert response.headers["Content-Type"] == "text/event-stream"
    assert response.headers["Cache-Control"] == "no-cache"
    assert response.headers["X-Accel-Buffering"] == "no"
    *chunks, done = events_of(response)
    assert done == "[DONE]"
    assert len({(chunk["id"], chunk["created"], chunk["model"], chunk["object"]) for chunk in chunks}) == 1
    assert (chunks[0]["object"], chunks[0]["model"]) == ("chat.completion.chunk", "mine")
    assert chunks[0]["id"].startswith("chatcmpl-")
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    assert deltas[0] == {"role": "assistant", "content": ""}
    assert not any("role" in delta for delta in deltas[1:])
    assert chunks[-1]["choices"] == [{"index": 0, "delta": {}, "finish_reason": "stop"}]
    assert not any("usage" in chunk for chunk in chunks)


def test_hidden_reasoning_makes_no_deltas(serve):
    body = HI | {"stream": True, "include_reasoning": False}
    text = serve(["long", " thought", "</think>", "391"]).client.post(CHAT, json=body).get_data(as_text=True)
    assert "reasoning_content" not in text
    assert text.count("data: ") == 4  # role, content, finish, [DONE]


def test_reasoning_and_thinking_defaults_come_from_the_settings(serve):
    server = serve(["391"], enable_thinking=False, include_reasoning=False)
    assert server.client.post(CHAT, json=HI).get_json()["choices"][0]["message"]["content"] == "391"
    thinking = HI | {"chat_template_kwargs": {"enable_thinking": True}, "include_reasoning": True}
    assert server.client.post(CHAT, json=thinking).get_json()["choices"][0]["message"]["reasoning_content"] == "391"


def test_line_ends_of_some_clients_are_escaped_in_a_stream(serve):
    server = serve(["t</think>a\u2028b\x85c"])
    response = server.client.post(CHAT, json=HI | {"stream": True})
    text = response.get_data(as_text=True)
    assert "\u2028" not in text
    assert "\x85" not in text
    contents = [json.loads(line[6:])["choices"][0]["delta"].get("content") for line in text.split("\n\n")[:-2]]
    assert "a\u2028b\x85c" in contents


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("options", "status", "param", "code"),
    [
        ({"n": 2}, 400, "n", None),
        ({"messages": []}, 400, "messages", None),
        ({"tools": TOOLS, "tool_choice": {"type": "function", "function": {"name": "h"}}}, 400, "tool_choice", None),
        ({"chat_template_kwargs": {"tokenize": True}}, 400, "chat_template_kwargs", None),
        ({"messages": [{"role": "user", "content": "x" * 100}]}, 400, None, "context_length_exceeded"),
        ({"model": "other"}, 404, "model", "model_not_found"),
    ],
)
def test_what_can_be_known_before_is_a_status(serve, stream, options, status, param, code):
    server = serve(max_prompt_tokens=60, strict_model=True)
    response = server.client.post(CHAT, json=HI | options | {"stream": stream})
    assert (response.status_code, response.content_type) == (status, "application/json")
    error = response.get_json()["error"]
    assert (error["type"], error["code"]) == ("invalid_request_error", code)
    assert param is None or error["param"] == param
    assert server.engine.status().active == 0


@pytest.mark.parametrize("tool_choice", ["none", "auto", {"type": "function", "function": {"name": "g"}}])
def test_the_prompt_shows_only_the_tools_chosen(serve, tool_choice):
    server = serve()
    server.client.post(CHAT, json=HI | {"tools": TOOLS, "tool_choice": tool_choice})
    shown = {"none": None, "auto": TOOLS}.get(tool_choice if isinstance(tool_choice, str) else "", TOOLS[1:])
    server.client.post(CHAT, json=HI if shown is None else HI | {"tools": shown})
    first, second = server.model.fed
    assert first == second


def test_a_call_round_trips_into_the_prompt_however_it_is_spelled(serve):
    server = serve()
    for content, arguments in [(None, '{"x":1}'), ("", {"x": 1}), ([], ' {"x": 1}')]:
        call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": arguments}}
        history = [
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": content, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "22"},
        ]
        assert server.client.post(CHAT, json={"messages": history}).status_code == 200
    assert server.model.fed[0] == server.model.fed[1] == server.model.fed[2]
