"""Chat requests into dataclasses."""

import copy
import dataclasses

import pytest

from maple.errors import InvalidRequest
from schemas.chat import ChatRequest, ChatSchema

HI = {"messages": [{"role": "user", "content": "hi"}]}
F = {"type": "function", "function": {"name": "f", "parameters": {"x": None}, "strict": True}, "note": 1}
G = {"type": "function", "function": {"name": "g"}}
EVERY_OPTION = [
    *["temperature", "top_p", "top_k", "max_tokens", "max_completion_tokens", "stop", "seed", "stream"],
    *["stream_options", "tools", "tool_choice", "n", "logprobs", "top_logprobs", "response_format", "user"],
    *["repetition_penalty", "presence_penalty", "frequency_penalty", "include_reasoning", "chat_template_kwargs"],
    "model",
]


def parse(**fields) -> ChatRequest:
    body = HI | fields
    before = copy.deepcopy(body)
    try:
        return ChatSchema().parse(body)
    finally:
        assert body == before, "the body is left as it was"


def refusal(**fields) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as caught:
        parse(**fields)
    return caught.value


def test_nulls_and_unknown_fields_are_as_if_absent():
    assert parse(**dict.fromkeys(EVERY_OPTION)) == parse(new_field={"x": 1}) == parse()


def test_a_request_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        parse().seed = 1


@pytest.mark.parametrize(
    ("fields", "name", "value"),
    [
        ({"max_completion_tokens": 3}, "max_tokens", 3),
        ({"chat_template_kwargs": {"enable_thinking": False, "a": 1}}, "enable_thinking", False),
        ({"chat_template_kwargs": {"enable_thinking": False, "a": None}}, "template_kwargs", {"a": None}),
        ({"tools": [F, G]}, "tools", (F, G)),
        ({"tools": [F, G], "tool_choice": "none"}, "tools", ()),
        ({"tools": [F, G], "tool_choice": {"type": "function", "function": {"name": "g"}}}, "tools", (G,)),
        ({"tool_choice": "none"}, "tools", ()),
        ({"n": 1, "logprobs": False, "top_logprobs": 0, "response_format": {"type": "text"}}, "tools", ()),
        ({"response_format": {"type": "json_object"}}, "tools", ()),
    ],
)
def test_taken(fields, name, value):
    assert getattr(parse(**fields), name) == value


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"n": 0}, "n"),
        ({"n": 2}, "n"),
        ({"n": True}, "n"),
        ({"n": 1.0}, "n"),
        ({"logprobs": True}, "logprobs"),
        ({"logprobs": 0}, "logprobs"),
        ({"top_logprobs": 1}, "top_logprobs"),
        ({"response_format": {"type": "json_schema", "json_schema": {}}}, "response_format"),
        ({"response_format": {}}, "response_format"),
        ({"response_format": "text"}, "response_format"),
        ({"include_reasoning": "no"}, "include_reasoning"),
        ({"chat_template_kwargs": []}, "chat_template_kwargs"),
        ({"chat_template_kwargs": {"enable_thinking": "false"}}, "chat_template_kwargs.enable_thinking"),
        ({"tools": {}}, "tools"),
        ({"tools": [F, 1]}, "tools[1]"),
        ({"tools": [F, F | {"type": "custom"}]}, "tools[1].type"),
        ({"tools": [F, {"type": "function", "function": {"name": ""}}]}, "tools[1].function.name"),
        ({"tools": [G] * 1025}, "tools"),
        ({"messages": HI["messages"] * 10_001}, "messages"),
        ({"tool_choice": "maybe"}, "tool_choice"),
        ({"tool_choice": {"type": "function", "function": {"name": "g"}}}, "tool_choice"),
        ({"tools": [F], "tool_choice": {"type": "function", "function": {"name": "g"}}}, "tool_choice"),
    ],
)
def test_refused(fields, param):
    error = refusal(**fields)
    assert error.param == param
    assert error.message.startswith(f"{param} ")


def test_the_sentence_of_the_contract():
    assert refusal(n=2).message == "n must be 1"
