"""Say a word back, spell it, count its letters, count from one number to another."""

from __future__ import annotations

from random import Random

from maple.tiny.text.lexicon import word
from maple.tiny.text.sample import Turn

_ECHO = (
    "Reply with exactly one word: {}", "Reply with one word: {}", "Say {}", "say {}", "Say: {}",
    "Say '{}'.", 'Say "{}".', "Repeat {}", "Repeat the word {}.", "Repeat after me: {}",
    "Reply with exactly: {}", "Answer with one word: {}", "Answer with exactly one word: {}",
    "Please say {}.", "Reply with just the word {}.", 'Reply with the word "{}" only.',
    "Respond with exactly one word: {}", "Only say {}.", "Please repeat: {}", "Echo {}", "echo: {}",
    "Write the word {}.", "Just say {}", 'Reply "{}" and nothing else.', "Say the word {}",
    "Answer only {}.", "Output exactly: {}",
)  # fmt: skip
_SPELL = (
    "Spell {}", "Spell the word {}.", "How do you spell {}?", "how is {} spelled?", "spell {}",
    'Can you spell "{}"?', "Please spell {}.", "Spell out {}", "What are the letters of {}?",
)  # fmt: skip
_LENGTH = (
    "How many letters are in {}?", "How many letters does {} have?", "Count the letters in {}.",
    "how many letters in {}", 'How many letters are in the word "{}"?', "How long is the word {}?",
    "Count the letters of the word {}", "What is the number of letters in {}?",
)  # fmt: skip
_LETTER = (
    "How many {0}s are in {1}?", "How many {0}'s are in {1}?", "How many {0} are in {1}?",
    'How many times does {0} appear in "{1}"?', "Count the letter {0} in {1}.",
    "how many {0} in {1}", 'How many "{0}" are there in {1}?', "How many {0}'s does {1} have?",
)  # fmt: skip
_COUNT = (
    "Count from {} to {}", "Count from {} to {}.", "count from {} to {}", "Please count {} to {}.",
    "Can you count from {} to {}?", "Give me the numbers from {} to {}.", "Count {} to {}",
)  # fmt: skip


def _case(rng: Random, text: str) -> str:
    style = rng.random()
    return text.capitalize() if style < 0.15 else text.upper() if style < 0.2 else text


def echo(rng: Random, fresh: bool) -> Turn:
    """Say one word, or now and then a few, exactly."""
    count = rng.choice((1, 1, 1, 1, 2, 3, 5))
    text = " ".join(_case(rng, word(rng, fresh)) for _ in range(count))
    if rng.random() < 0.1:
        text = str(rng.randint(0, 9999))
    elif rng.random() < 0.1:
        text = text.replace(" ", ", ", 1) + rng.choice("!!?")
    user = rng.choice(_ECHO).format(text)
    return Turn("echo", user, f"Say: {text}", text)


def spell(rng: Random, fresh: bool) -> Turn:
    """The letters of a word, with hyphens."""
    text = word(rng, fresh)
    return Turn("spell", rng.choice(_SPELL).format(text), f"Spell: {text}", "-".join(text))


def length(rng: Random, fresh: bool) -> Turn:
    """How many letters a word has, counted one by one."""
    text = word(rng, fresh)
    thought = text + ": " + " ".join(f"{c}{i}" for i, c in enumerate(text, 1))
    answer = f"{text} has {len(text)} letters."
    return Turn("length", rng.choice(_LENGTH).format(text), thought, answer, f"{thought}\n{answer}")


def letter(rng: Random, fresh: bool) -> Turn:
    """How often one letter comes in a word, with the count so far beside each letter."""
    text = word(rng, fresh)
    wanted = rng.choice(text) if rng.random() < 0.85 else rng.choice("aeiorstn")
    seen, steps = 0, []
    for c in text:
        seen += c == wanted
        steps.append(f"{c}{seen}")
    thought = f"{wanted} in {text}: {' '.join(steps)}"
    answer = f"{text} has {seen} {wanted}."
    user = rng.choice(_LETTER).format(wanted, text)
    return Turn("letter", user, thought, answer, f"{thought}\n{answer}")


def count(rng: Random, fresh: bool) -> Turn:
    """A short run of numbers, upwards."""
    start = rng.choice((1, 1, rng.randint(0, 20), rng.randint(0, 90)))
    stop = start + rng.randint(2, 11)
    answer = ", ".join(str(number) for number in range(start, stop + 1))
    user = rng.choice(_COUNT).format(start, stop)
    return Turn("count", user, f"Count: {start} to {stop}", answer)


def make_turn(rng: Random, fresh: bool) -> Turn:
    """One exercise with words."""
    makers, weights = (echo, spell, length, letter, count), (5, 2, 2, 3, 1)
    return rng.choices(makers, weights)[0](rng, fresh)
