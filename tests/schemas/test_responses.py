"""The bodies of replies, as the OpenAI API spells them."""

import time

import pytest

from schemas import responses
from schemas.responses import ReplyHeader

HEADER = ReplyHeader("id-1", 5, "mine")
USAGE = responses.usage(prompt_tokens=3, completion_tokens=4, cached_tokens=1, reasoning_tokens=2)
TOP = {"id": "id-1", "created": 5, "model": "mine"}


def test_a_header_is_new_each_time():
    before = int(time.time())
    headers = [ReplyHeader.new("cmpl", "mine") for _ in range(2)]
    assert headers[0].id != headers[1].id
    for header in headers:
        assert header.id.startswith("cmpl-")
        assert before <= header.created <= time.time()
        assert header.model == "mine"


def test_usage():
    assert USAGE == {
        "prompt_tokens": 3,
        "completion_tokens": 4,
        "total_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 1},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }


@pytest.mark.parametrize(
    ("body", "kind", "choices", "rest"),
    [
        (
            responses.chat_completion(HEADER, {"role": "assistant"}, "stop", USAGE),
            "chat.completion",
            [{"index": 0, "message": {"role": "assistant"}, "logprobs": None, "finish_reason": "stop"}],
            {"usage": USAGE},
        ),
        (
            responses.chat_chunk(HEADER, {"content": "a"}),
            "chat.completion.chunk",
            [{"index": 0, "delta": {"content": "a"}, "finish_reason": None}],
            {},
        ),
        (
            responses.chat_chunk(HEADER, {}, "length"),
            "chat.completion.chunk",
            [{"index": 0, "delta": {}, "finish_reason": "length"}],
            {},
        ),
        (responses.chat_usage_chunk(HEADER, USAGE), "chat.completion.chunk", [], {"usage": USAGE}),
        (
            responses.text_completion(HEADER, "a", "stop", USAGE),
            "text_completion",
            [{"index": 0, "text": "a", "logprobs": None, "finish_reason": "stop"}],
            {"usage": USAGE},
        ),
        (
            responses.text_chunk(HEADER, "a"),
            "text_completion",
            [{"index": 0, "text": "a", "logprobs": None, "finish_reason": None}],
            {},
        ),
        (responses.text_usage_chunk(HEADER, USAGE), "text_completion", [], {"usage": USAGE}),
    ],
)
def test_replies(body, kind, choices, rest):
    assert body == TOP | {"object": kind, "choices": choices} | rest


def test_smaller_bodies():
    assert responses.tool_call("c1", "f", "{}") == {
        "id": "c1",
        "type": "function",
        "function": {"name": "f", "arguments": "{}"},
    }
    entry = {"id": "mine", "object": "model", "created": 5, "owned_by": "deepgrove"}
    assert responses.model_entry("mine", 5) == entry
    assert responses.model_list([entry]) == {"object": "list", "data": [entry]}
    empty = {"message": "m", "type": "server_error", "param": None, "code": None}
    assert responses.error("m", "server_error") == {"error": empty}
    assert responses.error("m", "server_error", "p", "c") == {"error": empty | {"param": "p", "code": "c"}}
