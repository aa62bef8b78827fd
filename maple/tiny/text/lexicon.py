"""Words: a list of real ones, and made-up ones in two distinct flavours."""

from __future__ import annotations

from random import Random

from maple.tiny.text.lists import options, read_words
from maple.tiny.text.sample import held_out

WORDS = read_words("words.txt")

_STARTS = options("b|c|d|f|g|h|k|l|m|n|p|r|s|t|v|w|z|br|ch|cr|dr|fl|gl|gr|pl|pr|sh|sl|st|th|tr")
_VOWELS = ["a", "e", "i", "o", "u", "ai", "ea", "ou"]
_ENDS = ["", "", "", "n", "r", "l", "s", "t", "m", "nd", "st", "ck", "x"]
# The second flavour is only ever used for measuring.
_FRESH_STARTS = ["j", "y", "qu", "kn", "wh", "sw", "tw", "sn", "sp", "bl", "cl", "gw", "vr", "zh", "ph", "dj"]
_FRESH_VOWELS = ["a", "e", "i", "o", "u", "oa", "ee", "ui", "ie"]
_FRESH_ENDS = ["p", "g", "b", "sk", "lf", "rm", "nt", "z", "ff"]


def letters(rng: Random) -> str:
    """Three to seven letters in any order."""
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    return "".join(rng.choice(alphabet) for _ in range(rng.randint(3, 7)))


def plain_syllables(rng: Random) -> str:
    """Two or three plain syllables over the whole alphabet, a letter doubled now and then."""
    pairs = [rng.choice("bcdfghjklmnpqrstvwxyz") + rng.choice("aeiouy") for _ in range(rng.randint(2, 3))]
    text = "".join(pairs) + rng.choice(("", *"bdglmnprst"))
    return text + text[-1] if rng.random() < 0.2 else text


def made_up(rng: Random, fresh: bool = False) -> str:
    """A made-up word: one to three syllables, or in training also letters in any order."""
    starts, vowels, ends = _STARTS, _VOWELS, _ENDS
    if fresh:
        starts, vowels, ends = _FRESH_STARTS, _FRESH_VOWELS, _FRESH_ENDS
    elif rng.random() < 0.45:
        return letters(rng) if rng.random() < 0.5 else plain_syllables(rng)
    count = rng.choice((1, 2, 2, 2, 3))
    return "".join(rng.choice(starts) + rng.choice(vowels) for _ in range(count)) + rng.choice(ends)


def word(rng: Random, fresh: bool) -> str:
    """A word from one split: real, made up, or letters in any order."""
    while True:
        style = rng.random()
        if style < 0.5:
            found = rng.choice(WORDS)
        elif style < 0.8:
            found = made_up(rng)
        else:
            found = letters(rng)
        if held_out("word", found) == fresh:
            return found
