"""Numbers in words, and sums, differences and products worked out digit by digit."""

from __future__ import annotations

_SMALL = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def in_words(number: int) -> str:
    """English words for 0 to 999."""
    if number < 20:
        return _SMALL[number]
    if number < 100:
        tens, rest = divmod(number, 10)
        return _TENS[tens - 2] + (f"-{_SMALL[rest]}" if rest else "")
    hundreds, rest = divmod(number, 100)
    return f"{_SMALL[hundreds]} hundred" + (f" and {in_words(rest)}" if rest else "")


def _columns(first: int, second: int) -> tuple[str, str]:
    """Both numbers with as many digits as the longer one."""
    width = max(len(str(first)), len(str(second)))
    return str(first).zfill(width), str(second).zfill(width)


def add_steps(first: int, second: int) -> str:
    """A sum by columns from the right; each step shows the two digits and the carry."""
    top, bottom = _columns(first, second)
    steps, carry = [], 0
    for a, b in zip(reversed(top), reversed(bottom), strict=True):
        total = int(a) + int(b) + carry
        steps.append(f"{a}+{b}+{carry}={total:02d}")
        carry = total // 10
    return f"{top}+{bottom}: {' '.join(steps)} ={first + second}"


def subtract_steps(first: int, second: int) -> str:
    """A difference by columns; after each digit comes what was borrowed."""
    if first < second:
        return f"{first}<{second}\n{subtract_steps(second, first)}\n=-{second - first}"
    top, bottom = _columns(first, second)
    steps, borrow, digits = [], 0, ""
    for a, b in zip(reversed(top), reversed(bottom), strict=True):
        left = int(a) - int(b) - borrow
        steps.append(f"{a}-{b}-{borrow}={left % 10},{int(left < 0)}")
        digits = str(left % 10) + digits
        borrow = int(left < 0)
    return f"{top}-{bottom}: {' '.join(steps)} ={digits} ={first - second}"


def times_digit_steps(number: int, digit: int) -> str:
    """A product with one digit; each step adds the carry at once."""
    if digit == 0 or number == 0:
        return f"{number}*{digit}=0"
    steps, carry = [], 0
    for a in reversed(str(number)):
        total = int(a) * digit + carry
        steps.append(f"{a}*{digit}+{carry}={total:02d}")
        carry = total // 10
    return f"{number}*{digit}: {' '.join(steps)} ={number * digit}"


def multiply_steps(first: int, second: int) -> str:
    """A product by the digits of the shorter number, at most two, then one sum."""
    if len(str(second)) > len(str(first)):
        first, second = second, first
    tens, ones = divmod(second, 10)
    if not tens:
        return times_digit_steps(first, ones)
    lines = [times_digit_steps(first, ones), times_digit_steps(first, tens)]
    lines.append(add_steps(first * tens * 10, first * ones))
    return "\n".join(lines)
