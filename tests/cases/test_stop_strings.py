"""Section B: stop strings."""

import pytest

from tests.application import CHAT, COMPLETIONS, HI, events_of, serving
from tests.cases.asking import PROMPT, TOOLS, ask, four_ways, refused

CALL = '<tool_call>{"name":"f","arguments":{}}'


@pytest.mark.parametrize(
    ("raw", "stop", "said"),
    [
        pytest.param(["t</think>Hi", "\nUs", "er", ": more"], ["\nUser:"], ("t", "Hi", [], "stop"), id="C14"),
        pytest.param(["t</think>Hi", "\nUser"], ["\nUser:"], ("t", "Hi\nUser", [], "stop"), id="C15"),
        pytest.param(["one four", " five</think>four"], "four", ("one ", "", [], "stop"), id="C16"),
        pytest.param(["plan</think>x"], ["</think>"], ("plan", "", [], "stop"), id="C19-marker"),
        pytest.param(["p</think>ok<", "|x|>no"], ["<|x|>"], ("p", "ok", [], "stop"), id="C19-shared-letter"),
        pytest.param(
            [f"t</think>{CALL}", "</tool_call>"], ["</tool_call>"], ("t", CALL, [], "stop"), id="C19-closing-tag"
        ),
        pytest.param(["plan</think>x"], ["think>"], ("plan</", "", [], "stop"), id="C19-half-a-marker"),
        pytest.param(["t</think>a b", " c"], ["c", "b c"], ("t", "a ", [], "stop"), id="C14-the-longer-of-two"),
        pytest.param(["t</think>abcd"], ["abcd", "bc"], ("t", "a", [], "stop"), id="C14-the-first-completed"),
        pytest.param(["t</think>é🫠", "x"], ["🫠"], ("t", "é", [], "stop"), id="C14-emoji"),
        pytest.param(
            [f"t</think>{CALL}</tool_", "call>END x"],
            ["END"],
            ("t", None, [("f", "{}")], "tool_calls"),
            id="C19-behind-a-call",
        ),
        pytest.param(
            [f"t</think>Hm {CALL[:20]}", "END x"], ["END"], ("t", f"Hm {CALL[:20]}", [], "stop"), id="C19-in-a-call"
        ),
    ],
)
def test_stop(raw, stop, said):
    assert four_ways(raw, TOOLS | {"stop": stop}).said == said


@pytest.mark.parametrize(
    ("raw", "stop", "text"),
    [
        pytest.param(["Hi", "\nUs", "er", ": more"], ["\nUser:"], "Hi", id="C14"),
        pytest.param(["Hi", "\nUser"], ["\nUser:"], "Hi\nUser", id="C15"),
        pytest.param(["a</think>b"], "</th", "a", id="C52"),
    ],
)
def test_stop_on_the_raw_route(raw, stop, text):
    assert four_ways(raw, PROMPT | {"stop": stop}, COMPLETIONS).said == ("", text, [], "stop")


def test_c15_a_held_prefix_is_released_when_the_length_ends_it():
    said = four_ways(["t</think>Hi", "\nUser"], HI | {"stop": ["\nUser:"]}, cut=True).said
    assert said == ("t", "Hi\nUser", [], "length")


def test_c15_a_long_stop_string_delays_no_word():
    words = ["t</think>", "zero", " one", " two"]
    with serving(words) as served:
        events = events_of(served.client.post(CHAT, json=HI | {"stream": True, "stop": "zz" * 100}))
    contents = [event["choices"][0]["delta"].get("content") for event in events]
    assert contents == ["", None, "zero", " one", " two", None]


def test_c16_the_tokens_up_to_the_stop_string_count():
    usage = four_ways(["one ", "four", " five</think>"], HI | {"stop": "four"}).usage
    assert (usage["completion_tokens"], usage["completion_tokens_details"]["reasoning_tokens"]) == (2, 2)


@pytest.mark.parametrize("stop", [None, [], ["a", "b", "c", "d", "e"], "zzz"], ids=lambda stop: f"C17-{stop}")
@pytest.mark.parametrize(("path", "body"), [(CHAT, HI), (COMPLETIONS, PROMPT)])
def test_stops_that_are_taken(client, stop, path, body):
    assert ask(client, body | {"stop": stop}, path).content in ("ok", "t</think>ok")


@pytest.mark.parametrize(
    "stop", ["", [""], ["a", ""], [1], [None], [["a"]], {}, 5, True], ids=lambda stop: f"C17-{stop!r}"
)
@pytest.mark.parametrize(("path", "body"), [(CHAT, HI), (COMPLETIONS, PROMPT)])
def test_stops_that_are_refused(client, stop, path, body):
    refused(client, body | {"stop": stop}, path, param="stop")
