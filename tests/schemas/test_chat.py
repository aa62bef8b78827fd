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
        ({"max_tokens": 9, "max_completion_tokens": 3}, "max_tokens", 3),
        ({"max_tokens": 3, "max_completion_tokens": None}, "max_tokens", 3),
        ({"max_tokens": None, "max_completion_tokens": 3}, "max_tokens", 3),
        ({"stop": "x"}, "stop", ("x",)),
        ({"seed": -(2**63)}, "seed", -(2**63)),
        ({"seed": 2**64 - 1}, "seed", 2**64 - 1),
        ({"stream": True, "stream_options": {"include_usage": True}}, "include_usage", True),
        ({"stream": True, "stream_options": {"include_usage": None}}, "include_usage", False),
        ({"stream_options": {"include_usage": True}}, "include_usage", False),
        ({"stream_options": 5}, "include_usage", False),
        ({"chat_template_kwargs": {"enable_thinking": False, "a": 1}}, "enable_thinking", False),
        ({"chat_template_kwargs": {"enable_thinking": False, "a": None}}, "template_kwargs", {"a": None}),
        ({"tools": [F, G]}, "tools", (F, G)),
        ({"tools": [F, G], "tool_choice": "required"}, "tools", (F, G)),
        ({"tools": [F, G], "tool_choice": "none"}, "tools", ()),
        ({"tools": [F, G], "tool_choice": {"type": "function", "function": {"name": "g"}}}, "tools", (G,)),
        ({"tool_choice": "none"}, "tools", ()),
        ({"n": 1, "logprobs": False, "top_logprobs": 0, "response_format": {"type": "text"}}, "tools", ()),
        ({"response_format": {"type": "json_object"}}, "tools", ()),
        ({"presence_penalty": 10**400, "frequency_penalty": "x", "user": []}, "tools", ()),
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
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_completion_tokens": -1, "max_tokens": 3}, "max_completion_tokens"),
        ({"temperature": 2.1}, "temperature"),
        ({"top_p": 0}, "top_p"),
        ({"top_k": -2}, "top_k"),
        ({"repetition_penalty": 0}, "repetition_penalty"),
        ({"seed": 2**64}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"stop": [""]}, "stop"),
        ({"stream": "true"}, "stream"),
        ({"stream": True, "stream_options": 5}, "stream_options"),
        ({"stream": True, "stream_options": {"include_usage": 1}}, "stream_options.include_usage"),
        ({"model": 5}, "model"),
        ({"include_reasoning": "no"}, "include_reasoning"),
        ({"chat_template_kwargs": []}, "chat_template_kwargs"),
        ({"chat_template_kwargs": {"enable_thinking": "false"}}, "chat_template_kwargs.enable_thinking"),
        ({"tools": {}}, "tools"),
        ({"tools": [F, 1]}, "tools[1]"),
        ({"tools": [{"type": "function"}]}, "tools[0].function"),
        ({"tools": [{"type": "function", "function": {"name": ""}}]}, "tools[0].function.name"),
        ({"tools": [F | {"type": "custom"}]}, "tools[0].type"),
        ({"tool_choice": "maybe"}, "tool_choice"),
        ({"tool_choice": {}}, "tool_choice"),
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
