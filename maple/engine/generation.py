"""One request's way through the engine, as the HTTP thread that serves it sees it."""

import time
from queue import Empty

from maple.engine.queue import SlotQueue, Ticket
from maple.engine.requests import GenerationRequest
from maple.engine.streamer import TokenStreamer
from maple.errors import EngineOverloaded, MapleError


class Generation:
    """Waits for the slot, then yields text.

    wait_for_turn(), read() and close() are the HTTP thread's, fail() and interrupt() the engine's.
    """

    def __init__(self, request: GenerationRequest, streamer: TokenStreamer, queue: SlotQueue, queue_timeout: float):
        self.request = request
        self.streamer = streamer
        self.finished = False
        self.finish_reason = "stop"
        self.cached_tokens = 0
        self._queue = queue
        self._deadline = time.monotonic() + queue_timeout
        self._ticket: Ticket | None = None
        self._is_cancelled = False
        self._is_interrupted = False
        self._error: MapleError | None = None

    def enter(self, on_turn) -> None:
        """Takes a place in the line; on_turn(self) is called when the slot is this generation's."""
        self._ticket = self._queue.enter(lambda: on_turn(self))

    @property
    def started(self) -> bool:
        """Whether it has the slot, or had it."""
        return self._ticket.has_slot

    def wait_for_turn(self, seconds: float) -> None:
        """Waits in the line, at most so long; started tells whether the turn has come. Takes no text.

        Raises EngineOverloaded when the place was kept too long, ShuttingDown when the line was closed.
        """
        remaining = self._deadline - time.monotonic()
        if self._queue.wait(self._ticket, min(seconds, max(remaining, 0))):
            return
        if remaining <= seconds and self._queue.leave(self._ticket):
            raise EngineOverloaded("the request waited too long for its turn; try again later")

    def read(self, seconds: float) -> str | None:
        """The next piece of text; None if none came in that time, or if it has just finished.

        Raises what wait_for_turn() does, and what fail() or interrupt() was given, after the text before it.
        """
        if not self.started:
            self.wait_for_turn(seconds)
            return None
        try:
            piece = self.streamer.text_queue.get(timeout=seconds)
        except Empty:
            if self._is_interrupted:  # a forward pass may last longer than the server does
                self.finished = True
                raise self._error from None
            return None
        if piece is not None:
            return piece
        self.finished = True
        if self._error is not None:
            raise self._error
        return None

    def close(self) -> None:
        """Ends it, wherever it is: a waiting one leaves the line, a running one stops at the next token."""
        self._is_cancelled = True
        self._queue.leave(self._ticket)

    def is_cancelled(self) -> bool:
        return self._is_cancelled

    def fail(self, error: MapleError) -> None:
        """Ends it with an error that read() raises."""
        self._error = self._error or error
        self._is_cancelled = True

    def interrupt(self, error: MapleError) -> None:
        """As fail(), without waiting for the token in the making."""
        self.fail(error)
        self._is_interrupted = True

    @property
    def prompt_tokens(self) -> int:
        return len(self.request.prompt_ids)

    @property
    def completion_tokens(self) -> int:
        """Generated ids, the one that ended the turn included."""
        return self.streamer.num_tokens

    def tokens_before(self, offset: int) -> int:
        """Generated ids that lie wholly before a character offset of the raw text."""
        return self.streamer.num_tokens_before(offset)
