"""What a generator hands over: one exchange, and one exchange in its setting."""

from __future__ import annotations

import zlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Turn:
    """A request with the thought and the answer that belong to it."""

    skill: str
    user: str
    thought: str
    answer: str
    # The answer with thinking off, where it differs (longer sums show their working).
    quick: str | None = None

    def reply(self, thinking: bool) -> str:
        """The text of the answer under this thinking switch."""
        return self.answer if thinking or self.quick is None else self.quick


@dataclass(frozen=True)
class Sample:
    """A whole prompt (messages and tools) and the turn the model is to write."""

    skill: str
    messages: tuple[dict, ...]
    thought: str
    answer: str
    thinking: bool = True
    tools: tuple[dict, ...] = ()

    def target(self) -> str:
        """The text that follows the generation prompt, without the end of turn."""
        if self.thinking:
            return f"{self.thought}\n</think>\n\n{self.answer}"
        return self.answer


def held_out(*parts: object) -> bool:
    """Whether this item is kept for measuring (about one in ten, never trained on)."""
    key = "/".join(str(part) for part in parts)
    return zlib.crc32(key.encode()) % 10 == 0
