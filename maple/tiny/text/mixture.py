"""The mixture: which skills come how often, in which setting."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from maple.tiny.text import arithmetic, talk, tools, words
from maple.tiny.text.lists import options
from maple.tiny.text.sample import Sample, Turn

WEIGHTS = {"arithmetic": 36, "words": 14, "talk": 8, "tools": 42}
# The end of a run is for what is learned last.
LATE_WEIGHTS = {"arithmetic": 12, "words": 12, "talk": 5, "tools": 71}
_PERSONAS = options(
    "You are a helpful assistant.|You are Maple.|Be brief.|Answer shortly.|You are a friendly robot."
    "|Be helpful and polite.|You help people with numbers.|Use the tools when they fit."
    "|You are a helpful assistant. Answer in one sentence.|You speak English.|Think step by step."
)


def _plain_turn(rng: Random, fresh: bool) -> Turn:
    family = rng.choices(("arithmetic", "words", "talk"), (3, 2, 3))[0]
    if family == "arithmetic":
        return arithmetic.make_turn(rng, fresh)
    return words.make_turn(rng, fresh) if family == "words" else talk.make_turn(rng)


def _tool_sample(rng: Random, fresh: bool) -> Sample:
    style, thinking = rng.random(), rng.random() < 0.85
    if style < 0.34:
        return tools.call_sample(rng, fresh, 1, thinking)
    if style < 0.4:
        return tools.follow_up_sample(rng, fresh, talk.small_talk(rng), thinking)
    if style < 0.58:
        return tools.call_sample(rng, fresh, 2, thinking)
    if style < 0.8:
        if rng.random() < 0.5:
            return tools.other_tool_sample(rng, fresh, talk.refuse(rng), thinking)
        return tools.no_call_sample(rng, fresh, _plain_turn(rng, fresh), thinking)
    return tools.result_sample(rng, fresh, thinking)


def _history(rng: Random, fresh: bool) -> tuple[dict, ...]:
    """Earlier exchanges; now and then enough of them to run far past the window."""
    messages: list[dict] = []
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 6))):
        turn = _plain_turn(rng, fresh)
        reply = turn.reply(rng.random() < 0.7)
        messages += [
            {"role": "user", "content": turn.user},
            {"role": "assistant", "content": reply},
        ]
    return tuple(messages)


def _system(rng: Random) -> str:
    """A usual system message, or one nobody could foresee."""
    if rng.random() < 0.5:
        return rng.choice(_PERSONAS)
    return " ".join(talk.request_for_more(rng) for _ in range(rng.choice((1, 1, 2))))


def in_setting(rng: Random, sample: Sample, fresh: bool, history: float = 0.1) -> Sample:
    """The sample with a system message or earlier exchanges before it, now and then."""
    messages = sample.messages
    if rng.random() < history:
        messages = (*_history(rng, fresh), *messages)
    if rng.random() < 0.15:
        messages = ({"role": "system", "content": _system(rng)}, *messages)
    return replace(sample, messages=messages)


def from_turn(turn: Turn, thinking: bool) -> Sample:
    """A turn as a conversation of its own."""
    messages = ({"role": "user", "content": turn.user},)
    return Sample(turn.skill, messages, turn.thought, turn.reply(thinking), thinking)


def make_sample(rng: Random, fresh: bool = False, history: float = 0.1, late: bool = False) -> Sample:
    """One conversation of any skill; `fresh` draws from what is kept for measuring."""
    weights = LATE_WEIGHTS if late else WEIGHTS
    family = rng.choices(list(weights), list(weights.values()))[0]
    if family == "tools":
        sample = _tool_sample(rng, fresh)
    elif family == "arithmetic":
        sample = from_turn(arithmetic.make_turn(rng, fresh), rng.random() < 0.85)
    elif family == "words":
        sample = from_turn(words.make_turn(rng, fresh), rng.random() < 0.7)
    else:
        sample = from_turn(talk.make_turn(rng), rng.random() < 0.65)
    return in_setting(rng, sample, fresh, history)
