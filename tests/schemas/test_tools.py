"""Tools, and the choice among them."""

import pytest
from marshmallow import ValidationError

from schemas.tools import Tool, ToolChoice, visible_tools

F = {"type": "function", "function": {"name": "f", "parameters": {"x": None}, "strict": True}, "note": 1}
G = {"type": "function", "function": {"name": "g"}}
NAMED_G = {"type": "function", "function": {"name": "g"}, "note": 1}


@pytest.mark.parametrize("tool", [F, G, {"type": "function", "function": {"name": "f", "description": None}}])
def test_a_tool_is_loaded_as_it_was_sent(tool):
    before = repr(tool)
    assert repr(Tool().deserialize(tool)) == before


@pytest.mark.parametrize(
    ("tool", "messages"),
    [
        (1, ["must be an object"]),
        ([F], ["must be an object"]),
        ({"function": {"name": "f"}}, {"type": ["is required"]}),
        (F | {"type": "custom"}, {"type": ["must be function"]}),
        ({"type": "function"}, {"function": ["is required"]}),
        ({"type": "function", "function": {}}, {"function": {"name": ["is required"]}}),
        ({"type": "function", "function": {"name": ""}}, {"function": {"name": ["must not be empty"]}}),
        ({"type": "function", "function": {"name": "f", "description": 1}}, None),
        ({"type": "function", "function": {"name": "f", "parameters": []}}, None),
    ],
)
def test_what_is_no_tool(tool, messages):
    with pytest.raises(ValidationError) as caught:
        Tool().deserialize(tool)
    assert messages is None or caught.value.messages == messages


@pytest.mark.parametrize("choice", ["none", "auto", "required", NAMED_G])
def test_a_choice_is_loaded_as_it_was_sent(choice):
    assert ToolChoice().deserialize(choice) == choice


@pytest.mark.parametrize(
    "choice",
    [
        "maybe",
        "",
        1,
        True,
        [],
        {},
        {"type": "function"},
        {"type": "function", "function": "g"},
        {"type": "function", "function": {}},
        {"type": "function", "function": {"name": 5}},
        {"type": "custom", "function": {"name": "g"}},
        {"function": {"name": "g"}},
    ],
)
def test_what_is_no_choice(choice):
    with pytest.raises(ValidationError, match='must be "none", "auto", "required" or an object'):
        ToolChoice().deserialize(choice)


@pytest.mark.parametrize(
    ("tools", "choice", "shown"),
    [
        ([F, G], "auto", (F, G)),
        ([F, G], "required", (F, G)),
        ([F, G], "none", ()),
        ([F, G], NAMED_G, (G,)),
        ([], "none", ()),
        ([], "required", ()),
    ],
)
def test_what_the_model_is_shown(tools, choice, shown):
    assert visible_tools(tools, choice) == shown


@pytest.mark.parametrize("tools", [[], [F]])
def test_a_choice_of_a_tool_that_is_not_there(tools):
    with pytest.raises(ValidationError) as caught:
        visible_tools(tools, NAMED_G)
    assert caught.value.field_name == "tool_choice"
