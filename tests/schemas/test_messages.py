"""Histories as clients send them, into one form."""

import pytest

from maple.errors import InvalidRequest
from schemas.chat import ChatSchema


def normalised(*messages) -> list[dict]:
    return list(ChatSchema().parse({"messages": list(messages)}).messages)


def calling(**function) -> dict:
    return {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f"} | function}]}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"role": "user", "content": "a"}, {"role": "user", "content": "a"}),
        ({"role": "developer", "content": "a"}, {"role": "system", "content": "a"}),
        ({"role": "user"}, {"role": "user", "content": ""}),
        ({"role": "user", "content": None}, {"role": "user", "content": ""}),
        ({"role": "user", "content": []}, {"role": "user", "content": ""}),
        ({"role": "user", "content": "a", "name": "n", "x": 1}, {"role": "user", "content": "a", "name": "n"}),
        (
            {"role": "system", "content": [{"type": "text", "text": "a "}, {"type": "text", "text": "b"}]},
            {"role": "system", "content": "a b"},
        ),
        ({"role": "tool", "content": "22"}, {"role": "tool", "content": "22"}),
        (
            {"role": "tool", "content": "22", "tool_call_id": "c"},
            {"role": "tool", "content": "22", "tool_call_id": "c"},
        ),
        (
            {"role": "assistant", "content": "b", "reasoning_content": "c"},
            {"role": "assistant", "content": "b", "reasoning_content": "c"},
        ),
        (
            {"role": "assistant", "content": "b", "reasoning": "c", "reasoning_content": None},
            {"role": "assistant", "content": "b", "reasoning_content": "c"},
        ),
        (
            {"role": "assistant", "content": "b", "reasoning": None, "tool_calls": []},
            {"role": "assistant", "content": "b"},
        ),
    ],
)
def test_normalised(message, expected):
    assert normalised(message) == [expected]


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ({"arguments": '{"x": 1}'}, {"x": 1}),
        ({"arguments": {"x": 1}}, {"x": 1}),
        ({"arguments": ""}, {}),
        ({"arguments": " "}, {}),
        ({"arguments": None}, {}),
        ({}, {}),
    ],
)
def test_arguments_become_an_object(function, arguments):
    (message,) = normalised(calling(**function))
    assert message["content"] == ""
    assert message["tool_calls"] == [{"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}]


@pytest.mark.parametrize("arguments", ["{", "[1]", "null", '"x"', "NaN", '{"x": NaN}', '"\\ud83d"', "[" * 5000, [1], 5])
def test_arguments_that_are_none(arguments):
    with pytest.raises(InvalidRequest) as caught:
        normalised({"role": "user", "content": "a"}, calling(arguments=arguments))
    assert caught.value.param == "messages[1].tool_calls[0].function.arguments"


OTHER_PARTS = [
    *[{"type": "image_url", "image_url": {"url": "data:,"}}, {"type": "input_audio"}, {"type": "x"}, {}],
    *[{"type": "text"}, {"type": "text", "text": None}, {"text": "a"}, "a", 1, None],
]


@pytest.mark.parametrize("part", OTHER_PARTS)
def test_parts_other_than_text_name_their_message(part):
    with pytest.raises(InvalidRequest) as caught:
        normalised({"role": "user", "content": "a"}, {"role": "user", "content": [{"type": "text", "text": "a"}, part]})
    assert caught.value.param == "messages[1].content"


@pytest.mark.parametrize(
    ("messages", "param"),
    [
        (None, "messages"),
        ([], "messages"),
        ({}, "messages"),
        ("hi", "messages"),
        ([1], "messages[0]"),
        ([None], "messages[0]"),
        ([{}], "messages[0].role"),
        ([{"role": "robot", "content": "x"}], "messages[0].role"),
        ([{"role": ["user"], "content": "x"}], "messages[0].role"),
        ([{"role": "user", "content": 5}], "messages[0].content"),
        ([{"role": "user", "content": {}}], "messages[0].content"),
        ([{"role": "assistant", "reasoning": 5}], "messages[0].reasoning"),
        ([{"role": "assistant", "tool_calls": {}}], "messages[0].tool_calls"),
        ([{"role": "assistant", "tool_calls": [1]}], "messages[0].tool_calls[0]"),
        ([{"role": "assistant", "tool_calls": [{"id": "c"}]}], "messages[0].tool_calls[0].function"),
        ([{"role": "tool", "content": "x", "tool_call_id": 5}], "messages[0].tool_call_id"),
    ],
)
def test_lists_that_are_no_history(messages, param):
    with pytest.raises(InvalidRequest) as caught:
        ChatSchema().parse({"messages": messages})
    assert caught.value.param == param
