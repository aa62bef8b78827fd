"""Raw text into chat chunks, and into the same as one reply."""

import pytest

from maple.web.chat_reply import ChatReply
from tests.web.generations import FakeGeneration

CALL = '<tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call>'
CALLED = {"type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}


def replied(raw, cut_at=None, in_reasoning=True, allows_tools=True, include_reasoning=True, finish_reason="stop"):
    """The chunks of a stream with usage, and the whole reply."""
    reply = ChatReply("mine", in_reasoning, allows_tools, include_reasoning)
    generation = FakeGeneration(raw, finish_reason=finish_reason)
    chunks = [*reply.opening(), *reply.feed(raw[:cut_at]), *reply.feed(raw[cut_at:] if cut_at else "")]
    chunks += [*reply.finish(), *reply.closing(generation, include_usage=True)]
    return chunks, reply.whole(generation)


def without_ids(calls):
    assert len({call["id"] for call in calls}) == len(calls)
    return [{name: value for name, value in call.items() if name != "id"} for call in calls]


@pytest.mark.parametrize(
    ("raw", "options", "message", "finish_reason"),
    [
        ("We add</think>\n\n391", {}, {"content": "391", "reasoning_content": "We add"}, "stop"),
        ("one two", {}, {"content": "", "reasoning_content": "one two"}, "stop"),
        ("x </thi", {"finish_reason": "length"}, {"content": "", "reasoning_content": "x </thi"}, "length"),
        ("", {}, {"content": ""}, "stop"),
        ("391", {"in_reasoning": False}, {"content": "391"}, "stop"),
        ("long</think>391", {"include_reasoning": False}, {"content": "391"}, "stop"),
        (f"t</think>{CALL}", {"include_reasoning": False}, {"content": None, "tool_calls": [CALLED]}, "tool_calls"),
        (
            f"t</think>{CALL}\n{CALL}",
            {},
            {"content": None, "reasoning_content": "t", "tool_calls": [CALLED, CALLED]},
            "tool_calls",
        ),
        (f"{CALL}", {"in_reasoning": False, "allows_tools": False}, {"content": CALL}, "stop"),
        (
            f"ab{CALL}",
            {"in_reasoning": False, "finish_reason": "length"},
            {"content": "ab", "tool_calls": [CALLED]},
            "length",
        ),
    ],
)
@pytest.mark.parametrize("cut_at", [None, 2, 12])
def test_both_modes_say_the_same(raw, options, message, finish_reason, cut_at):
    (opening, *texts, closing, usage), whole = replied(raw, cut_at, **options)
    (choice,) = whole["choices"]
    if "tool_calls" in choice["message"]:
        choice["message"]["tool_calls"] = without_ids(choice["message"]["tool_calls"])
    assert choice["message"] == {"role": "assistant"} | message
    assert choice["finish_reason"] == finish_reason

    assert opening["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    deltas = [chunk["choices"][0]["delta"] for chunk in texts]
    assert all(len(delta) == 1 and all(delta.values()) for delta in deltas)
    assert "".join(delta.get("content", "") for delta in deltas) == (message["content"] or "")
    assert "".join(delta.get("reasoning_content", "") for delta in deltas) == message.get("reasoning_content", "")
    calls = [call for delta in deltas for call in delta.get("tool_calls", [])]
    assert without_ids(calls) == [{"index": n} | call for n, call in enumerate(message.get("tool_calls", []))]
    assert closing["choices"] == [{"index": 0, "delta": {}, "finish_reason": finish_reason}]
    assert (usage["choices"], usage["usage"]) == ([], whole["usage"])


def test_a_call_has_one_id_in_the_stream_and_in_the_whole():
    (_, chunk, *_), whole = replied(CALL, in_reasoning=False)
    streamed = chunk["choices"][0]["delta"]["tool_calls"][0]["id"]
    assert whole["choices"][0]["message"]["tool_calls"][0]["id"] == streamed


def test_all_that_belongs_together_has_one_header():
    chunks, whole = replied("t</think>a")
    assert {(part["id"], part["created"], part["model"]) for part in [*chunks, whole]} == {
        (whole["id"], whole["created"], "mine")
    }
    assert whole["id"].startswith("chatcmpl-")
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    assert replied("a")[1]["id"] != whole["id"]


def test_usage_is_left_out_of_a_stream_unless_it_is_asked_for():
    (closing,) = ChatReply("mine", False, False, True).closing(FakeGeneration("a"), include_usage=False)
    assert closing["choices"][0]["finish_reason"] == "stop"
    assert "usage" not in closing


@pytest.mark.parametrize(
    ("raw", "in_reasoning", "reasoning_tokens"),
    [
        ("We add</think>391", True, 6),
        ("We add", True, 6),
        ("", True, 0),
        ("We add", False, 0),
    ],
)
@pytest.mark.parametrize("include_reasoning", [False, True])
def test_reasoning_is_counted_shown_or_not(raw, in_reasoning, reasoning_tokens, include_reasoning):
    _, whole = replied(raw, in_reasoning=in_reasoning, include_reasoning=include_reasoning)
    usage = whole["usage"]
    assert usage["completion_tokens_details"] == {"reasoning_tokens": reasoning_tokens}
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (7, len(raw))
    assert usage["prompt_tokens_details"] == {"cached_tokens": 2}
