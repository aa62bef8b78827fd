"""Sums, differences and products, asked in symbols, in words and as little stories."""

from __future__ import annotations

from random import Random

from maple.tiny.text.numbers import (
    add_steps,
    in_words,
    multiply_steps,
    subtract_steps,
)
from maple.tiny.text.sample import Turn, held_out

_SIGNS = {
    "+": ("+", "+", "+", "plus", "and"),
    "-": ("-", "-", "-", "minus", "\u2212"),
    "*": ("*", "*", "*", "x", "\u00d7", "times", "multiplied by"),
}
_FRAMES = (
    "What is {}?", "What is {}?", "what is {}", "What's {}?", "whats {}", "Calculate {}",
    "Calculate {}.", "Compute {}", "compute {}.", "How much is {}?", "how much is {}", "{}", "{}?",
    "{} =", "{} = ?", "{}=", "Please calculate {}.", "Tell me {}.", "Work out {}.", "Solve {}",
    "Can you tell me what {} is?", "can you compute {}?", "I need {}", "Hi, what is {}?",
    "What does {} equal?", "What do you get for {}?", "Give me the result of {}.", "Evaluate {}",
    "Hello! How much is {}?", "What is {} please?", "Could you work out {} for me?",
    "What is the answer to {}?", "What is the result of {}?", "Find {}", "Think: {}",
)  # fmt: skip
_NOUN_FRAMES = {
    "+": ("the sum of {} and {}", "{} added to {}", "the total of {} and {}"),
    "-": ("the difference of {} and {}", "the difference between {} and {}"),
    "*": ("the product of {} and {}",),
}
_ORDERS = {
    "+": ("Add {} and {}", "Add {} to {}.", "add {} and {}", "Sum {} and {}."),
    "-": ("Take {1} from {0}", "Subtract {1} from {0}.", "subtract {1} from {0}"),
    "*": ("Multiply {} by {}", "Multiply {} and {}.", "multiply {} with {}"),
}
_STORIES = {
    "+": (
        "{n} has {a} {t} and gets {b} more. How many {t} does {n} have now?",
        "I have {a} {t} and buy {b} more. How many do I have?",
        "There are {a} {t} here and {b} {t} there. How many in total?",
    ),
    "-": (
        "{n} has {a} {t} and gives away {b}. How many {t} are left?",
        "I had {a} {t} and lost {b}. How many do I have now?",
        "There were {a} {t}, and {b} are gone. How many are left?",
    ),
    "*": (
        "{n} has {a} bags with {b} {t} each. How many {t} is that?",
        "There are {a} rows of {b} {t}. How many {t} are there?",
        "One box holds {b} {t}. How many {t} are in {a} boxes?",
    ),
}
_NAMES = ["Anna", "Ben", "Carla", "Tom", "Sara", "Omar", "Mia", "Jon", "Lena", "Raj", "Eva", "Paul"]
_THINGS = ["apples", "books", "coins", "cards", "eggs", "pens", "balls", "stones", "nuts", "cups"]
_BARE = (" Just the number.", " Answer with the number only.", " Only the number, please.")
# How often each size is asked: the operation and the digits of both numbers.
_KINDS = {
    ("+", 3, 3): 20, ("-", 3, 3): 22, ("*", 2, 2): 26, ("*", 3, 2): 24, ("*", 2, 1): 4,
    ("*", 3, 1): 3, ("*", 1, 1): 3, ("+", 2, 2): 6, ("-", 2, 2): 6, ("+", 1, 1): 1, ("-", 1, 1): 1,
}  # fmt: skip


def pick(rng: Random, sign: str, left: int, right: int, fresh: bool) -> tuple[int, int]:
    """Two numbers of at most (for products: exactly) so many digits, from one split."""
    while True:
        low_left, low_right = (0, 0) if sign != "*" else (10 ** (left - 1), 10 ** (right - 1))
        a = rng.randint(low_left, 10**left - 1)
        b = rng.randint(low_right, 10**right - 1)
        # Small numbers would be rare in a range of three digits.
        if sign != "*" and rng.random() < 0.2:
            a, b = rng.choice(((a % 100, b), (a, b % 100), (a % 10, b), (a, b % 10)))
        pair = (a, b) if sign == "-" else tuple(sorted((a, b)))
        if max(left, right) == 1 or held_out(sign, *pair) == fresh:
            return a, b


def phrase(rng: Random, sign: str, a: int, b: int) -> str:
    """One of the many ways to ask for it."""
    style = rng.random()
    if style < 0.08 and min(a, b) > 1:
        story = rng.choice(_STORIES[sign])
        return story.format(n=rng.choice(_NAMES), t=rng.choice(_THINGS), a=a, b=b)
    words = rng.random() < 0.1
    left, right = (in_words(a), in_words(b)) if words else (str(a), str(b))
    if style < 0.14:
        return rng.choice(_ORDERS[sign]).format(left, right)
    if style < 0.2:
        return rng.choice(_FRAMES).format(rng.choice(_NOUN_FRAMES[sign]).format(left, right))
    mark = rng.choice(_SIGNS[sign])
    gap = "" if not mark[0].isalpha() and not words and rng.random() < 0.35 else " "
    return rng.choice(_FRAMES).format(f"{left}{gap}{mark}{gap}{right}")


def solve(sign: str, a: int, b: int) -> tuple[int, str]:
    """The value and the steps that lead to it."""
    if sign == "+":
        return a + b, add_steps(a, b)
    if sign == "-":
        return a - b, subtract_steps(a, b)
    return a * b, multiply_steps(a, b)


def make_turn(rng: Random, fresh: bool, kind: tuple[str, int, int] | None = None) -> Turn:
    """One exercise; `kind` fixes the operation and the sizes."""
    sign, left, right = kind or rng.choices(list(_KINDS), list(_KINDS.values()))[0]
    a, b = pick(rng, sign, left, right, fresh)
    if sign == "*" and left != right and rng.random() < 0.3:
        a, b = b, a
    value, steps = solve(sign, a, b)
    user, bare = phrase(rng, sign, a, b), rng.random() < 0.12
    if bare:
        user += rng.choice(_BARE)
    answer = str(value) if bare else f"{a} {sign} {b} = {value}"
    thought = f"{a}{sign}{b}\n{steps}"
    small = max(a, b) < 10
    quick = answer if small else f"{thought}\n{answer}"
    return Turn(f"{sign}{left}{right}", user, thought, answer, quick)
