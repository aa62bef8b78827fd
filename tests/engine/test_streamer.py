import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import TextIteratorStreamer

from maple.engine.streamer import TokenStreamer
from tests.scripted import ScriptedTokenizer

FIRST = 352


def stream(pieces, stops=(), ends=False):
    """A streamer that has taken these pieces, a token each, and what it handed on."""
    streamer = TokenStreamer(ScriptedTokenizer(pieces, FIRST), tuple(stops))
    for token in range(FIRST, FIRST + len(pieces)):
        streamer.put(token)
    if ends:
        streamer.put_end_token()
    streamer.end()
    return streamer, list(streamer)


def text_of(pieces, stops=()):
    return "".join(stream(pieces, stops)[1])


def every_cut(octets):
    for cut in range(len(octets) + 1):
        yield [octets[:cut], octets[cut:]]
    yield [octets[i : i + 1] for i in range(len(octets))]
    yield [octets]


def test_it_is_a_text_iterator_streamer_that_ends():
    streamer, pieces = stream(["Hel", "lo"])
    assert isinstance(streamer, TextIteratorStreamer)
    assert pieces == ["Hel", "lo", ""]
    assert streamer.text_queue.empty()


@pytest.mark.parametrize(
    ("octets", "text"),
    [
        ("ab🫠cd".encode(), "ab🫠cd"),
        ("é€𝄞 ü".encode(), "é€𝄞 ü"),
        ("👩‍👩‍👧".encode(), "👩‍👩‍👧"),  # joined by U+200D: characters of their own
        (b"one \x80 two", "one \ufffd two"),
        (b"a\xffb\xfe", "a\ufffdb\ufffd"),
        (b"\xc3(", "\ufffd("),
        (b"\xf0\x9f\xab!", "\ufffd!"),
        (b"\xed\xa0\xbd", "\ufffd\ufffd\ufffd"),  # a surrogate spelled in bytes
        ("x\ufffdy".encode(), "x\ufffdy"),  # written by the model itself
        ("ends \ufffd".encode(), "ends \ufffd"),
        ("ab🫠".encode()[:-1], "ab\ufffd"),
        ("ab🫠".encode()[:-3], "ab\ufffd"),
        ("ab\ufeff".encode(), "ab\ufeff"),
        (b"", ""),
    ],
)
def test_every_cut_of_the_bytes_gives_the_same_text(octets, text):
    assert octets.decode(errors="replace") == text
    for pieces in every_cut(octets):
        assert text_of(pieces) == text


@given(st.lists(st.binary(max_size=4) | st.sampled_from(["é", "🫠", "a"]).map(str.encode), max_size=8))
def test_any_bytes_however_cut_are_what_decoding_them_at_once_gives(pieces):
    assert text_of(pieces) == b"".join(pieces).decode(errors="replace")


def test_only_the_unfinished_character_is_held_back():
    octets = "ab🫠c".encode()
    streamer = TokenStreamer(ScriptedTokenizer([octets[:3], octets[3:5], octets[5:]], FIRST))
    handed_on = []
    for token in range(FIRST, FIRST + 3):
        streamer.put(token)
        handed_on.append("".join(streamer.text_queue.get_nowait() for _ in range(streamer.text_queue.qsize())))
    assert handed_on == ["ab", "", "🫠c"]


def test_invalid_bytes_do_not_stall_what_follows():
    streamer = TokenStreamer(ScriptedTokenizer([b"one \x80", b" two"], FIRST))
    streamer.put(FIRST)
    streamer.put(FIRST + 1)
    assert [streamer.text_queue.get_nowait() for _ in range(2)] == ["one \ufffd", " two"]


def test_a_stop_string_made_of_several_tokens():
    streamer, pieces = stream(["Hi", "\nUs", "er", ": more"], ["\nUser:"])
    assert "".join(pieces) == "Hi"
    assert streamer.has_stopped
    assert streamer.num_tokens == 4


def test_a_stop_string_cut_inside_a_character():
    octets = "a🫠b".encode()
    for pieces in every_cut(octets):
        assert text_of(pieces, ["🫠"]) == "a"


def test_a_stop_string_that_the_last_unfinished_character_completes():
    pieces = [b"a!", b"\xf0\x9f"]
    streamer, handed_on = stream(pieces, ["!\ufffd"])
    assert "".join(handed_on) == "a"
    assert streamer.has_stopped


def test_held_text_is_released_at_the_end():
    assert stream(["Hi", "\nUser"], ["\nUser:"])[1] == ["Hi", "\nUser"]


def test_the_end_token_counts_and_has_no_text():
    streamer, pieces = stream(["a", "b"], ends=True)
    assert ("".join(pieces), streamer.num_tokens) == ("ab", 3)


@pytest.mark.parametrize(
    ("pieces", "offset", "count"),
    [
        (["ab", "cd", "ef"], 0, 0),
        (["ab", "cd", "ef"], 1, 0),
        (["ab", "cd", "ef"], 2, 1),
        (["ab", "cd", "ef"], 3, 1),
        (["ab", "cd", "ef"], 6, 3),
        (["ab", "cd", "ef"], 99, 3),
        (["é".encode()[:1], "é".encode()[1:], "</think>"], 1, 2),  # characters, not bytes
        (["🫠".encode()[:3], "🫠</think>".encode()[3:]], 1, 1),
        (["plan</th", "ink>x"], 4, 0),
        ([], 0, 0),
    ],
)
def test_tokens_that_lie_wholly_before_an_offset(pieces, offset, count):
    assert stream(pieces)[0].num_tokens_before(offset) == count


def test_the_decoder_is_the_standard_one():
    """Replacement characters are counted as Python counts them, so that both modes agree."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    octets = b"\xf0\x9f\xf0\x9f\xab\xa0\xe2\x82"
    one_by_one = "".join(decoder.decode(octets[i : i + 1]) for i in range(len(octets))) + decoder.decode(b"", True)
    assert text_of([octets[i : i + 1] for i in range(len(octets))]) == one_by_one
