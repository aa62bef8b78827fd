"""Raw text into completion chunks, and into the same as one reply."""

import pytest

from maple.web.text_reply import TextReply
from tests.web.generations import FakeGeneration


@pytest.mark.parametrize("pieces", [["\n a</think>", "<tool_call>{}</tool_", "call> \n"], ["", "x", ""], []])
@pytest.mark.parametrize("finish_reason", ["stop", "length"])
def test_the_text_is_raw_in_both_modes(pieces, finish_reason):
    reply, generation = TextReply("mine"), FakeGeneration(*pieces, finish_reason=finish_reason)
    chunks = [chunk for piece in pieces for chunk in reply.feed(piece)]
    assert reply.opening() == reply.finish() == []
    *closing, usage = reply.closing(generation, include_usage=True)
    assert reply.closing(generation, include_usage=False) == closing
    whole = reply.whole(generation)

    assert [chunk["choices"][0]["text"] for chunk in [*chunks, *closing]] == [*filter(None, pieces), ""]
    reasons = [chunk["choices"][0]["finish_reason"] for chunk in [*chunks, *closing]]
    assert reasons == [None] * len(chunks) + [finish_reason]
    (choice,) = whole["choices"]
    assert (choice["text"], choice["finish_reason"]) == ("".join(pieces), finish_reason)
    assert (usage["choices"], usage["usage"]) == ([], whole["usage"])
    parts = [*chunks, *closing, usage, whole]
    assert {(part["id"], part["created"], part["model"]) for part in parts} == {(whole["id"], whole["created"], "mine")}
    assert {part["object"] for part in parts} == {"text_completion"}
    assert whole["id"].startswith("cmpl-")


def test_usage():
    usage = TextReply("mine").whole(FakeGeneration("abc"))["usage"]
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (7, 3)
    assert usage["prompt_tokens_details"] == {"cached_tokens": 2}
    assert usage["completion_tokens_details"] == {"reasoning_tokens": 0}
