"""Section D: tool calls in the output."""

import json

import pytest

from tests.application import CHAT, HI, events_of, serving
from tests.cases.asking import TOOL_F, TOOLS, ask, four_ways, refused

F = '{"name":"f","arguments":{}}'
TOOL_G = {"type": "function", "function": {"name": "g"}}
NAMED_F = {"type": "function", "function": {"name": "f"}}


def block(body=F):
    return f"<tool_call>{body}</tool_call>"


TWO = [f"t</think>{block(F.replace('{}', json.dumps({'x': 1})))}\n", block(F.replace("{}", json.dumps({"x": 2})))]


@pytest.mark.parametrize(
    ("raw", "content", "calls"),
    [
        pytest.param(
            ['t</think><tool_call>\n{"name":"w","arguments":{"t":"a </tool_', 'call> b \\"}{ \\\\"}}\n</tool_call>'],
            None,
            [("w", {"t": 'a </tool_call> b "}{ \\'})],
            id="C25-tag-in-a-string",
        ),
        pytest.param(
            ["t</think>", block('{"name":"w","arguments":{"cmd":"mkdir {x,y"}}')],
            None,
            [("w", {"cmd": "mkdir {x,y"})],
            id="C25-odd-brace",
        ),
        pytest.param(
            ["t</think>", block('{"name":"w","arguments":{"t":"<tool_call>"}}')],
            None,
            [("w", {"t": "<tool_call>"})],
            id="C25-opening-tag-in-a-string",
        ),
        pytest.param(TWO, None, [("f", {"x": 1}), ("f", {"x": 2})], id="C26"),
        pytest.param(["t</think>", block(F + F)], None, [("f", {}), ("f", {})], id="D21"),
        pytest.param(["t</think><tool_call>", block()], "<tool_call>", [("f", {})], id="D22"),
        pytest.param(["t</think>", f"<tool_call>{F}", block()], None, [("f", {}), ("f", {})], id="D22-complete"),
        pytest.param(["t</think>Let me see.\n", block(), "\nDone."], "Let me see.\n\nDone.", [("f", {})], id="text"),
    ],
)
def test_calls(raw, content, calls):
    reply = four_ways(raw, TOOLS)
    assert (reply.reasoning, reply.content, reply.finish_reason) == ("t", content, "tool_calls")
    assert [(name, json.loads(arguments)) for name, arguments in reply.calls] == calls


def test_c26_ids_are_unique_across_requests_and_calls_have_an_index():
    with serving(TWO) as served:
        replies = [ask(served.client, TOOLS, stream=stream) for stream in (False, True)]
        events = events_of(served.client.post(CHAT, json=TOOLS | {"stream": True}))
    assert len({call_id for reply in replies for call_id in reply.call_ids}) == 4
    deltas = [event["choices"][0]["delta"] for event in events]
    calls = [delta["tool_calls"] for delta in deltas if "tool_calls" in delta]
    assert [[call["index"] for call in delta] for delta in calls] == [[0], [1]]
    for (call,) in calls:
        assert set(call) == {"index", "id", "type", "function"}
        assert call["type"] == "function"


@pytest.mark.parametrize("choice", [None, "auto", "required", NAMED_F], ids=["null", "auto", "required", "named"])
@pytest.mark.parametrize(
    ("raw", "cut", "finish_reason"),
    [
        pytest.param(["t</think>", block()], False, "tool_calls", id="C27-call"),
        pytest.param(["t</think>No need."], False, "stop", id="C27-no-call"),
        pytest.param(["t</think>", block(), "and th"], True, "length", id="C27-cut-behind-a-call"),
    ],
)
def test_finish_reason(raw, cut, finish_reason, choice):
    reply = four_ways(raw, TOOLS | {"tool_choice": choice}, cut=cut)
    assert reply.finish_reason == finish_reason
    assert len(reply.calls) == len(raw) - 1 - cut


@pytest.mark.parametrize(
    ("raw", "cut", "said"),
    [
        pytest.param(
            ['t</think>Hm <tool_call>{"name":"f","argu'],
            True,
            ("t", 'Hm <tool_call>{"name":"f","argu', [], "length"),
            id="C29-cut",
        ),
        pytest.param(
            ['t</think>Hm <tool_call>{"name":"f","argu'],
            False,
            ("t", 'Hm <tool_call>{"name":"f","argu', [], "stop"),
            id="C29-ended",
        ),
        pytest.param(
            [f"t</think><tool_call>{F}"], False, ("t", f"<tool_call>{F}", [], "stop"), id="C29-no-closing-tag"
        ),
        pytest.param(
            [f"t</think><tool_call>{F}"], True, ("t", f"<tool_call>{F}", [], "length"), id="C29-no-closing-tag-cut"
        ),
        pytest.param(
            [f"t</think>{block()}\n", '<tool_call>{"na'],
            True,
            ("t", '<tool_call>{"na', [("f", "{}")], "length"),
            id="C29-good-then-cut",
        ),
        pytest.param(
            [f"t</think>{block()}\n", '<tool_call>{"na'],
            False,
            ("t", '<tool_call>{"na', [("f", "{}")], "tool_calls"),
            id="C29-good-then-ended",
        ),
        pytest.param(
            ["t</think><tool_call>not JSON", "</tool_call>"],
            False,
            ("t", "<tool_call>not JSON</tool_call>", [], "stop"),
            id="D15",
        ),
    ],
)
def test_unclosed_blocks(raw, cut, said):
    assert four_ways(raw, TOOLS, cut=cut).said == said


@pytest.mark.parametrize(
    ("body", "arguments"),
    [
        ('{"name":"f","arguments":{}}', "{}"),
        ('{"name":"f"}', "{}"),
        ('{"name":"f","arguments":null}', "{}"),
        (r'{"name":"f","arguments":"{\"x\":1}"}', '{"x":1}'),
        ('{"name":"f","parameters":{"x":1}}', '{"x": 1}'),
        ('{"name":"f","arguments":"plain"}', None),
        ('{"name":"f","arguments":[1]}', None),
        ('{"name":"f","arguments":5}', None),
        ('{"arguments":{}}', None),
    ],
    ids=lambda value: f"C31-{value}",
)
def test_shape_of_arguments(body, arguments):
    reply = four_ways(["t</think>", block(body)], TOOLS)
    if arguments is None:
        assert reply.said == ("t", block(body), [], "stop")
    else:
        assert reply.said == ("t", None, [("f", arguments)], "tool_calls")


@pytest.mark.parametrize(
    "body", [HI, HI | {"tools": []}, HI | {"tool_choice": "none"}, TOOLS | {"tool_choice": "none"}], ids=str
)
def test_c32_without_visible_tools_a_block_is_text(body):
    assert four_ways(["t</think>a ", block(), "\n"], body).said == ("t", f"a {block()}\n", [], "stop")


def test_c32_the_template_gets_the_tools_of_the_choice():
    with serving() as served:
        for extra in (
            {},
            {"tools": [TOOL_F, TOOL_G], "tool_choice": "none"},
            {"tools": []},
            {"tools": [TOOL_F]},
            {"tools": [TOOL_F, TOOL_G], "tool_choice": NAMED_F},
            {"tools": [TOOL_F, TOOL_G], "tool_choice": "required"},
            {"tools": [TOOL_F, TOOL_G]},
        ):
            ask(served.client, HI | extra)
        bare, none, empty, one, named, required, both = served.prompts()
    assert bare == none == empty
    assert "Tools" not in bare
    assert one == named != required == both


@pytest.mark.parametrize(
    ("extra", "param"),
    [
        ({"tool_choice": "always"}, "tool_choice"),
        ({"tool_choice": {"type": "function"}}, "tool_choice"),
        ({"tool_choice": {"type": "function", "function": {"name": "h"}}}, "tool_choice"),
        ({"tool_choice": 1}, "tool_choice"),
        ({"tools": {}}, "tools"),
        ({"tools": [1]}, "tools[0]"),
        ({"tools": [{"type": "function"}]}, "tools[0].function"),
        ({"tools": [{"type": "web_search", "function": {"name": "f"}}]}, "tools[0].type"),
        ({"tools": [TOOL_F, {"type": "function", "function": {"name": 5}}]}, "tools[1].function.name"),
        (
            {"tools": [{"type": "function", "function": {"name": "f", "parameters": []}}]},
            "tools[0].function.parameters",
        ),
    ],
)
def test_tools_that_are_refused(client, extra, param):
    refused(client, TOOLS | extra, param=param)
