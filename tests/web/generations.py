"""Generations without an engine."""


class FakeGeneration:
    """One that has begun and gives these pieces; an exception among them is raised. Each character is a token."""

    prompt_tokens, cached_tokens = 7, 2
    started = True

    def __init__(self, *pieces: str | Exception | None, finish_reason: str = "stop"):
        self.finish_reason = finish_reason
        self.completion_tokens = sum(len(piece) for piece in pieces if isinstance(piece, str))
        self.times_closed = 0
        self._pieces = list(pieces)

    @property
    def finished(self) -> bool:
        return not self._pieces

    def read(self, seconds: float) -> str | None:
        piece = self._pieces.pop(0)
        if isinstance(piece, Exception):
            raise piece
        return piece

    def close(self) -> None:
        self.times_closed += 1

    def tokens_before(self, offset: int) -> int:
        return offset
