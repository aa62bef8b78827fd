"""The output parser's blocks; what a block's body must be is tested with maple.chat.tool_calls."""

import pytest

from maple.chat.events import ContentText
from maple.chat.parser import OutputParser
from tests.chat.parsing import CALL_F, F, block, check

CALLS = {
    "one": (block(), ("", [CALL_F])),
    "C25 tag in a string": (
        r'<tool_call>{"name":"w","arguments":{"t":"a </tool_call> b \"}{ \\"}}</tool_call>',
        ("", [("w", '{"t": "a </tool_call> b \\"}{ \\\\"}')]),
    ),
    "C25 odd brace": (
        block('{"name":"w","arguments":{"cmd":"mkdir {x,y"}}'),
        ("", [("w", '{"cmd": "mkdir {x,y"}')]),
    ),
    "C25 opening tag in a string": (
        block('{"name":"w","arguments":{"t":"<tool_call>"}}'),
        ("", [("w", '{"t": "<tool_call>"}')]),
    ),
    "C25 think marker in a string": (
        block('{"name":"w","arguments":{"t":"</think>"}}'),
        ("", [("w", '{"t": "</think>"}')]),
    ),
    "C25 escaped backslash before the quote": (
        block(r'{"name":"w","arguments":{"t":"\\"}}') + "x",
        ("x", [("w", r'{"t": "\\"}')]),
    ),
    "C25 no JSON": ('<tool_call>say "</tool_call>" x', ('<tool_call>say "</tool_call>" x', [])),
    "C26 two": (block() + "\n" + block('{"name":"g","arguments":{"x":2}}'), ("", [CALL_F, ("g", '{"x": 2}')])),
    "C26 the same twice": (block() + block(), ("", [CALL_F, CALL_F])),
    "C29 cut in the arguments": ('Hm <tool_call>{"name":"f","argu', ('Hm <tool_call>{"name":"f","argu', [])),
    "C29 cut in a string with a tag": ('<tool_call>{"name":"f</tool_call>', ('<tool_call>{"name":"f</tool_call>', [])),
    "C29 good, then cut": (block() + '\n<tool_call>{"na', ('<tool_call>{"na', [CALL_F])),
    "C29 the tag alone": ("<tool_call>", ("<tool_call>", [])),
    "C29 the tag and blanks": ("a<tool_call> \n", ("a<tool_call> \n", [])),
    "D3 closing tag missing": (f"<tool_call>{F}", (f"<tool_call>{F}", [])),
    "D3 half the closing tag": (f"<tool_call>{F}</tool_c", (f"<tool_call>{F}</tool_c", [])),
    "D15 no call": (f"a {block('{}')} b", (f"a {block('{}')} b", [])),
    "D15 empty block": ("<tool_call></tool_call>", ("<tool_call></tool_call>", [])),
    "D15 broken JSON": (block('{"name": "f", }'), (block('{"name": "f", }'), [])),
    "D15 a bad block, then a good one": (block("{}") + block(), (block("{}"), [CALL_F])),
    "D15 unbalanced quote, then a good one": (block('{"a}') + block(), (block('{"a}'), [CALL_F])),
    "D21 back to back": (block(F + F), ("", [CALL_F, CALL_F])),
    "D21 blanks, commas": (block(f"{F}\n{F} , {F}"), ("", [CALL_F] * 3)),
    "D21 one of them no call": (block(F + "{}"), (block(F + "{}"), [])),
    "D21 text between": (block(F + "and" + F), (block(F + "and" + F), [])),
    "D21 tag in a string of the second": (
        block(F + '{"name":"w","arguments":{"t":"</tool_call>"}}'),
        ("", [CALL_F, ("w", '{"t": "</tool_call>"}')]),
    ),
    "D22 glitch, then again": (f"<tool_call>{block()}", ("<tool_call>", [CALL_F])),
    "D22 cut call, then again": (
        '<tool_call>\n{"name": "f", \n' + block(),
        ('<tool_call>\n{"name": "f",', [CALL_F]),
    ),
    "D22 complete call, then again": (f"<tool_call>{F}\n{block()}", ("", [CALL_F, CALL_F])),
    "D22 not within a string": (
        block('{"name":"f","arguments":{"a":"<tool_call>{"}}'),
        ("", [("f", '{"a": "<tool_call>{"}')]),
    ),
    "stray closing tag": ("a</tool_call>b", ("a</tool_call>b", [])),
    "stray closing tag behind a call": (block() + "</tool_call>", ("</tool_call>", [CALL_F])),
    "text before": ("Let me see.\n\n" + block(), ("Let me see.", [CALL_F])),
    "text between and behind": (f"a\n{block()}\nb\n{block()}\n", ("a\n\nb", [CALL_F, CALL_F])),
    "blanks beside calls": (f" \n{block()}\n\n{block()} \n", ("", [CALL_F, CALL_F])),
    "nothing within the block but blanks": (f"<tool_call> \n\t {F} \n </tool_call>", ("", [CALL_F])),
    "second think marker before the call": (f"a</think>{block()}", ("a", [CALL_F])),
    "a tag that looks like one": ("<tool_calls>{}</tool_calls>", ("<tool_calls>{}</tool_calls>", [])),
    "Chinese stays Chinese": (block('{"name":"f","arguments":{"a":"你好"}}'), ("", [("f", '{"a": "你好"}')])),
}


@pytest.mark.parametrize(("text", "expected"), CALLS.values(), ids=CALLS)
def test_calls_after_the_thought(text, expected):
    events, reasoning_end = check(f"t</think>{text}", ("t", *expected))
    assert reasoning_end == 1
    assert events[0] == ("reasoning", "t")


@pytest.mark.parametrize(("text", "expected"), CALLS.values(), ids=CALLS)
def test_calls_without_a_thought(text, expected):
    assert check(text, ("", *expected), in_reasoning=False)[1] is None


@pytest.mark.parametrize("text", [text for text, _ in CALLS.values() if "</think>" not in text])
def test_d4_without_tools_blocks_are_text(text):
    check(text, ("", text, []), in_reasoning=False, allows_tools=False)


def test_a_call_is_given_when_its_block_closes():
    parser = OutputParser(in_reasoning=False, allows_tools=True)
    *before, closing = f"a<tool_call>{F}</tool_call", ">"
    assert [type(event) for piece in before for event in parser.feed(piece)] == [ContentText]
    (call,) = parser.feed(closing)
    assert (call.name, call.arguments) == CALL_F
    assert parser.finish() == []
