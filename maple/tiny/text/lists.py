"""Lists the generators draw from: long ones in files, short ones in one string."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).parent / "lists"


def read_words(name: str) -> list[str]:
    """The words of a file."""
    return (_FOLDER / name).read_text(encoding="utf-8").split()


def read_lines(name: str) -> list[str]:
    """The lines of a file."""
    return (_FOLDER / name).read_text(encoding="utf-8").splitlines()


def options(text: str) -> list[str]:
    """Alternatives separated by bars."""
    return text.split("|")
