import pytest
from hypothesis import given
from hypothesis import strategies as st

from maple.engine.stops import StopMatcher


def run(pieces, stops):
    """The text released by each piece and at the end, and whether a stop string was met."""
    matcher = StopMatcher(tuple(stops))
    return [matcher.feed(piece) for piece in pieces] + [matcher.finish()], matcher.matched


def expected(text, stops):
    """By definition: cut where the earliest-completed stop string begins, of several the longest."""
    for end in range(len(text) + 1):
        completed = [stop for stop in stops if text[:end].endswith(stop)]
        if completed:
            return text[: end - len(max(completed, key=len))], True
    return text, False


def held(text, stops):
    """The longest end of the text that begins a stop string."""
    begins_a_stop = [n for n in range(len(text)) if any(stop.startswith(text[n:]) for stop in stops)]
    return len(text) - min(begins_a_stop, default=len(text))


@pytest.mark.parametrize(
    ("pieces", "stops", "released"),
    [
        (["Hi", " there"], [], ["Hi", " there", ""]),
        (["Hi", "\nUs", "er", ": more"], ["\nUser:"], ["Hi", "", "", "", ""]),
        (["Hi", "\nUser"], ["\nUser:"], ["Hi", "", "\nUser"]),
        (["Hi", "\nUs", "ually"], ["\nUser:"], ["Hi", "", "\nUsually", ""]),
        (["one four", " five"], ["four"], ["one ", "", ""]),
        (["abc"], ["abc"], ["", ""]),
        (["a", "a", "a", "b"], ["aab"], ["", "", "a", "", ""]),
        (["abcd"], ["abcd", "bc"], ["a", ""]),  # the inner one is complete first
        (["abc"], ["abcd", "bc"], ["a", ""]),
        (["abcd"], ["bcd", "cd"], ["a", ""]),  # complete at once: the longer one
        (["xa", "bc", "d"], ["abc", "cd"], ["x", "", "", ""]),
        (["ab", "ac"], ["abx", "ba"], ["", "a", ""]),
        (["one two three"], ["z" * 200], ["one two three", ""]),
        (["é", "🫠x"], ["🫠"], ["é", "", ""]),
        (["", "a", ""], ["ab"], ["", "", "", "a"]),
        (["a <", "b"], ["<|x|>"], ["a ", "<b", ""]),
    ],
)
def test_what_each_piece_releases(pieces, stops, released):
    assert run(pieces, stops)[0] == released


def test_after_a_match_nothing_is_released():
    released, matched = run(["a stop b", "c", "stop", "d"], ["stop"])
    assert (released, matched) == (["a ", "", "", "", ""], True)


STOPS = st.lists(st.text("ab<", min_size=1, max_size=5), max_size=4)
PIECES = st.lists(st.text("ab<", max_size=6), max_size=10)


@given(PIECES, STOPS)
def test_the_result_is_the_definition_however_the_text_is_cut(pieces, stops):
    text = "".join(pieces)
    kept, matched = expected(text, stops)
    for cut in (pieces, [text], list(text)):
        released, has_matched = run(cut, stops)
        assert ("".join(released), has_matched) == (kept, matched)


@given(PIECES, STOPS)
def test_nothing_leaks_and_nothing_is_held_without_need(pieces, stops):
    """At each moment exactly what may still be part of a stop string is withheld."""
    matcher, fed, released = StopMatcher(tuple(stops)), "", ""
    for piece in pieces:
        fed += piece
        released += matcher.feed(piece)
        kept, matched = expected(fed, stops)
        assert matcher.matched == matched
        assert released == (kept if matched else fed[: len(fed) - held(fed, stops)])
