import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maple.chat.events import ContentText, ReasoningText
from maple.chat.parser import MARKERS, OutputParser
from tests.chat.parsing import block, check, every_cut, fields, parse

REASONING = {
    "C01 marker": ("We add 2</think>391", ("We add 2", "391", [])),
    "C02 half markers in the answer": ("ok</think>if a < b then <tool", ("ok", "if a < b then <tool", [])),
    "C02 half a marker in the thought": ("x </thi", ("x </thi", "", [])),
    "C02 every start of a marker": ("t<</</t</thin</think", ("t<</</t</thin</think", "", [])),
    "C02 answer ends in <": ("t</think>a <", ("t", "a <", [])),
    "C03 no opening marker": ("plan</think>done", ("plan", "done", [])),
    "C05 thought never closed": ("just thinking", ("just thinking", "", [])),
    "C05 thought ends in newlines": ("thinking\n\n", ("thinking\n\n", "", [])),
    "C05 nothing at all": ("", ("", "", [])),
    "C09 call in the thought": (f"maybe {block()} no</think>Done", (f"maybe {block()} no", "Done", [])),
    "C09 unfinished call in the thought": (
        "say <tool_call> then stop</think>Done",
        ("say <tool_call> then stop", "Done", []),
    ),
    "newlines at the marker belong to it": ("plan\n\n</think>\n\n391", ("plan", "391", [])),
    "other blanks do not": ("plan \t</think> 391 ", ("plan \t", " 391 ", [])),
    "newlines within stay": ("a\n\nb\n</think>\nc\n\nd", ("a\n\nb", "c\n\nd", [])),
    "empty thought": ("</think>391", ("", "391", [])),
    "empty answer": ("plan</think>", ("plan", "", [])),
    "answer of newlines": ("plan</think>\n\n", ("plan", "", [])),
    "answer of blanks": ("plan</think>  ", ("plan", "  ", [])),
    "D1 second closing marker": ("a</think>b</think>c", ("a", "bc", [])),
    "D1 many closing markers": ("a</think></think>\n</think>b</think>", ("a", "\nb", [])),
    "D1 opening marker at the start": ("<think>\nplan</think>x", ("plan", "x", [])),
    "D1 opening marker behind blanks": (" \n<think>plan</think>x", ("plan", "x", [])),
    "D1 opening marker twice": ("<think>a</think>\n<think>\nb</think>c", ("a", "bc", [])),
    "a marker that looks like one": ("<thinker>a</thinks></think>x", ("<thinker>a</thinks>", "x", [])),
    "an opening marker later on": ("a <think> b</think>c <think> d", ("a <think> b", "c <think> d", [])),
}


@pytest.mark.parametrize(("text", "expected"), REASONING.values(), ids=REASONING)
@pytest.mark.parametrize("allows_tools", [True, False])
def test_reasoning(text, expected, allows_tools):
    check(text, expected, allows_tools=allows_tools)


@pytest.mark.parametrize("text", [block(), "a <tool_call> b", "<tool_call>{"])
def test_a_thought_with_blocks_is_left_as_it_is(text):
    check(text, (text, "", []))


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("391", "391"),
        ("a</think>b", "ab"),
        ("</think>\n\nb", "\n\nb"),
        ("<think>\n\n</think>\n\nb", "\n\nb"),
        ("\n<think>b", "b"),
        ("a<think>b", "a<think>b"),
        (" a ", " a "),
        ("<th", "<th"),
    ],
)
@pytest.mark.parametrize("allows_tools", [True, False])
def test_thinking_off(text, content, allows_tools):
    assert check(text, ("", content, []), in_reasoning=False, allows_tools=allows_tools)[1] is None


@pytest.mark.parametrize(
    ("text", "end"),
    [("plan</think>x", 4), ("plan\n\n</think>x", 6), ("</think>", 0), ("<think>\nplan</think>x", 12), ("plan", None)],
)
def test_reasoning_end_is_where_the_marker_starts_in_the_raw_text(text, end):
    for pieces in every_cut(text):
        assert parse(pieces)[1] == end


@pytest.mark.parametrize(
    ("pieces", "settled"),
    [
        (["ok</think>", "if a <", " b then <tool"], ["ok", "if a", " < b then"]),
        (["a", "b</", "c"], ["a", "b", "</c"]),
        (["say <tool_call>", ' {"name', "</think>Done"], ["say <tool_call>", ' {"name', "Done"]),
        (["x</think>one", " two", "\n\nthree"], ["xone", " two", "\n\nthree"]),
        (["x</think>see ", "<tool_call>", "no JSON"], ["xsee", "", " <tool_call>no JSON"]),
    ],
)
def test_text_is_held_back_no_longer_than_needed(pieces, settled):
    parser = OutputParser(in_reasoning=True, allows_tools=True)
    assert ["".join(event.text for event in parser.feed(piece)) for piece in pieces] == settled


FRAGMENTS = st.sampled_from(
    [
        "<think>",
        "</think>",
        "<tool_call>",
        "</tool_call>",
        "<tool",
        "_call>",
        "</",
        "<",
        ">",
        "think>",
        '{"name":"F","arguments":{"A":1}}',
        '{"name":"F","argu',
        "{",
        "}",
        '"',
        "\\",
        ",",
        "\n",
        " ",
        "W",
        "X1",
    ]
)
TEXTS = st.lists(FRAGMENTS, max_size=14).map("".join)
MODES = st.fixed_dictionaries({"in_reasoning": st.booleans(), "allows_tools": st.booleans()})


@given(TEXTS, MODES, st.lists(st.integers(0, 200), max_size=6))
def test_the_events_do_not_depend_on_the_cuts(text, mode, cuts):
    bounds = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    pieces = [text[start:end] for start, end in pairwise(bounds)]
    whole = parse([text], **mode)
    assert parse(pieces, **mode) == whole
    assert parse(text, **mode) == whole


@given(TEXTS, MODES)
def test_nothing_is_lost_nor_made_up(text, mode):
    """What is neither marker nor blank comes out once and in order, a call as its JSON."""

    def significant(text):
        return [character for character in text if character in '{}":\\WX1AF']

    events, _ = parse([text], **mode)
    output = [
        json.dumps({"name": event[1], "arguments": json.loads(event[2])}) if event[0] == "call" else event[1]
        for event in events
    ]
    assert significant("".join(output)) == significant(text)


@given(TEXTS, MODES)
def test_no_closing_marker_gets_into_a_delta_of_content(text, mode):
    parser = OutputParser(**mode)
    events = [event for character in text for event in parser.feed(character)] + parser.finish()
    for event in events:
        if isinstance(event, (ReasoningText, ContentText)):
            assert "</think>" not in event.text


@given(TEXTS, st.booleans())
def test_without_tools_it_is_a_split_at_the_first_marker(text, in_reasoning):
    """The same, said without a stream."""
    rest, reasoning = text, ""
    if rest.lstrip().startswith("<think>"):
        rest = rest.lstrip().removeprefix("<think>").lstrip("\n")
        while not in_reasoning and rest.startswith("<think>"):
            rest = rest.removeprefix("<think>").lstrip("\n")
    if in_reasoning:
        reasoning, marker, rest = rest.partition("</think>")
        if marker:
            reasoning, rest = reasoning.rstrip("\n"), rest.lstrip("\n")
            while rest.startswith("<think>"):
                rest = rest.removeprefix("<think>").lstrip("\n")
    events, _ = parse([text], in_reasoning, allows_tools=False)
    content, *parts = rest.split("</think>")
    for part in parts:
        could_join = any(content.endswith(marker[:n]) for marker in MARKERS for n in range(1, len(marker)))
        content += (" " if could_join else "") + part
    assert fields(events) == (reasoning, content, [])


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("a</</think>think>b", "a</ think>b"),
        ("a<tool_</think>call>b", "a<tool_ call>b"),
        ("a </think>b", "a b"),
        ("a<</think></think>/think>", "a< /think>"),
    ],
)
def test_dropping_a_marker_makes_no_other_one(text, content):
    for pieces in ([text], list(text), [text[:5], text[5:]]):
        events, _ = parse(pieces, in_reasoning=False, allows_tools=True)
        assert fields(events) == ("", content, [])
