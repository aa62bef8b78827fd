"""Stop strings in a stream of text."""


class StopMatcher:
    """Releases text up to the first stop string that is completed, and nothing of that string.

    Two completed by the same character: the longer one counts. What is held back is only ever a suffix
    that may still become a stop string, so the outcome does not depend on how the text is cut.
    """

    def __init__(self, stops: tuple[str, ...]):
        self._stops = stops
        self._held = ""
        self.matched = False

    def feed(self, text: str) -> str:
        """Takes more text; returns what is released by it. After a match nothing is."""
        if self.matched:
            return ""
        text, self._held = self._held + text, ""
        match = self._first_match(text)
        if match is not None:
            self.matched = True
            return text[:match]
        released = len(text) - self._num_held(text)
        self._held = text[released:]
        return text[:released]

    def finish(self) -> str:
        """Returns what was held back, at the end of the text."""
        held, self._held = self._held, ""
        return held

    def _first_match(self, text: str) -> int | None:
        ends = [(start + len(stop), start) for stop in self._stops if (start := text.find(stop)) >= 0]
        return min(ends)[1] if ends else None

    def _num_held(self, text: str) -> int:
        longest = max((len(stop) for stop in self._stops), default=0)
        for length in range(min(longest - 1, len(text)), 0, -1):
            if any(stop.startswith(text[-length:]) for stop in self._stops):
                return length
        return 0
