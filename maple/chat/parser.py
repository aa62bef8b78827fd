"""Splits the model's raw text, as it comes, into reasoning, content and tool calls.

The events depend on the text alone, never on how it was cut: whatever could still become a marker is held
back until it is settled. A <tool_call> block that turns out to be no call is text, tags included.
"""

import re

from maple.chat.events import ContentText, Event, ReasoningText
from maple.chat.tool_calls import parse_calls

THINK_OPEN, THINK_CLOSE = "<think>", "</think>"
CALL_OPEN, CALL_CLOSE = "<tool_call>", "</tool_call>"

MARKERS = (THINK_OPEN, THINK_CLOSE, CALL_OPEN, CALL_CLOSE)

# More failed blocks than any model means to write; each may be read again up to its end.
MOST_FAILED_BLOCKS = 100

_IN_STRING = re.compile(r'"|\\.', re.DOTALL)
_OUTSIDE_STRING = re.compile(f'"|{CALL_OPEN}|{CALL_CLOSE}')


class OutputParser:
    """feed() the text piece by piece, then finish(); both return the events settled by then."""

    def __init__(self, in_reasoning: bool, allows_tools: bool):
        self.reasoning_end: int | None = None  # raw offset of the marker that closed the reasoning
        self._content_markers = (THINK_CLOSE, CALL_OPEN) if allows_tools else (THINK_CLOSE,)
        self._state = self._start
        self._state_after_start = self._reasoning if in_reasoning else self._content
        self._text = ""  # not settled yet
        self._num_fed = 0
        self._events: list[Event] = []
        self._blanks = ""  # blanks after the last content, not emitted yet
        self._has_content = False
        self._last_content = ""
        self._has_calls = False
        self._num_failed = 0
        self._num_scanned = 0  # of the open block
        self._in_string = False

    def feed(self, text: str) -> list[Event]:
        """Takes more raw text."""
        self._text += text
        self._num_fed += len(text)
        return self._settle(is_final=False)

    def finish(self) -> list[Event]:
        """Ends the text: what is still held back is released, except blanks beside tool calls."""
        events = self._settle(is_final=True)
        if self._blanks and not self._has_calls:
            events.append(ContentText(self._blanks))
        return events

    def _settle(self, is_final: bool) -> list[Event]:
        while self._state(is_final):
            pass
        events, self._events = self._events, []
        return events

    # Each state settles what it can of _text and returns whether there may be more to settle at once.

    def _start(self, is_final: bool) -> bool:
        """The very start: an opening marker that the prompt already holds is dropped."""
        text = self._text.lstrip()
        if THINK_OPEN.startswith(text) and text != THINK_OPEN and not is_final:
            return False
        self._state = self._state_after_start
        if text.startswith(THINK_OPEN):
            self._text = text[len(THINK_OPEN) :]
            self._state = self._after_marker
        return True

    def _after_marker(self, is_final: bool) -> bool:
        """Behind a think marker: newlines are dropped, and an opening marker that starts the answer."""
        self._text = self._text.lstrip("\n")
        is_answer = self._state_after_start == self._content
        if is_answer and self._text.startswith(THINK_OPEN):
            self._text = self._text[len(THINK_OPEN) :]
            return True
        if not is_final and (not self._text or (is_answer and THINK_OPEN.startswith(self._text))):
            return False
        self._state = self._state_after_start
        return True

    def _reasoning(self, is_final: bool) -> bool:
        before, marker, after = self._text.partition(THINK_CLOSE)
        if marker:
            self.reasoning_end = self._num_fed - len(self._text) + len(before)
            self._emit_reasoning(before.rstrip("\n"))
            self._text = after
            self._state_after_start, self._state = self._content, self._after_marker
            return True
        settled = self._text
        if not is_final:
            settled = settled[: len(settled) - _num_held(settled, (THINK_CLOSE,))].rstrip("\n")
        self._text = self._text[len(settled) :]
        self._emit_reasoning(settled)
        return False

    def _content(self, is_final: bool) -> bool:
        found = [(start, marker) for marker in self._content_markers if (start := self._text.find(marker)) >= 0]
        if not found:
            num_held = 0 if is_final else _num_held(self._text, self._content_markers)
            settled = len(self._text) - num_held
            self._emit_content(self._text[:settled])
            self._text = self._text[settled:]
            return False
        start, marker = min(found)
        self._emit_content(self._text[:start])
        if marker == THINK_CLOSE:
            if any(_num_held(self._last_content, (marker,)) for marker in MARKERS):
                self._emit_content(" ")  # or what stands on both sides could make a marker
            self._text = self._text[start + len(marker) :]
        else:
            self._text = self._text[start:]
            self._state, self._num_scanned, self._in_string = self._block, len(CALL_OPEN), False
        return True

    def _block(self, is_final: bool) -> bool:
        """From a <tool_call> to the tag that ends it: the first one that stands outside a JSON string."""
        body = self._text[len(CALL_OPEN) :].lstrip()
        end = self._find_block_end() if body.startswith("{") else None
        if end is None and not is_final and (not body or body.startswith("{")):
            return False
        calls = parse_calls(self._text[len(CALL_OPEN) : end.start()]) if end else None
        if calls:
            self._has_calls = True
            self._events += calls
            self._text = self._text[end.end() if end.group() == CALL_CLOSE else end.start() :]
        else:
            self._emit_content(CALL_OPEN)
            self._text = self._text[len(CALL_OPEN) :]
            self._num_failed += 1
            if self._num_failed == MOST_FAILED_BLOCKS:
                self._content_markers = (THINK_CLOSE,)
        self._state = self._content
        return True

    def _find_block_end(self) -> re.Match | None:
        while True:
            match = (_IN_STRING if self._in_string else _OUTSIDE_STRING).search(self._text, self._num_scanned)
            if match is None:
                held = ("\\.",) if self._in_string else (CALL_OPEN, CALL_CLOSE)
                self._num_scanned = max(self._num_scanned, len(self._text) - _num_held(self._text, held))
                return None
            if match.group() in (CALL_OPEN, CALL_CLOSE):
                return match
            self._num_scanned = match.end()
            self._in_string ^= match.group() == '"'

    def _emit_reasoning(self, text: str) -> None:
        if text:
            self._events.append(ReasoningText(text))

    def _emit_content(self, text: str) -> None:
        self._last_content = (self._last_content + text)[-len(CALL_CLOSE) :]
        text = self._blanks + text
        if self._has_calls and not self._has_content:
            text = text.lstrip()
        settled = text.rstrip()
        self._blanks = text[len(settled) :]
        if settled:
            self._has_content = True
            self._events.append(ContentText(settled))


def _num_held(text: str, markers: tuple[str, ...]) -> int:
    """How long the longest end of the text is that begins a marker."""
    longest = max(len(marker) for marker in markers) - 1
    lengths = range(min(longest, len(text)), 0, -1)
    return next((length for length in lengths if any(marker.startswith(text[-length:]) for marker in markers)), 0)
