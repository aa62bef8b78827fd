"""The line before the one generation slot: bounded, first come first served."""

import threading
from collections import deque
from collections.abc import Callable

from maple.errors import EngineOverloaded, ShuttingDown


class Ticket:
    """A place in the line. on_turn is called once, when the slot becomes this ticket's."""

    def __init__(self, on_turn: Callable[[], None]):
        self.on_turn = on_turn
        self.has_slot = False


class SlotQueue:
    """Hands one slot round. The slot is a plain lock: whoever ends the generation releases it."""

    def __init__(self, max_depth: int):
        self.max_depth = max_depth
        self._slot = threading.Lock()
        self._waiting: deque[Ticket] = deque()
        self._is_closed = False
        self._turn = threading.Condition()  # guards all of these

    @property
    def depth(self) -> int:
        """How many tickets wait."""
        with self._turn:  # enter() may be over the bound for a moment
            return len(self._waiting)

    @property
    def is_busy(self) -> bool:
        return self._slot.locked()

    def enter(self, on_turn: Callable[[], None]) -> Ticket:
        """Takes the slot if it is free, else the last place in the line.

        Raises EngineOverloaded if the line is full, ShuttingDown once it is closed.
        """
        ticket = Ticket(on_turn)
        with self._turn:
            self._check_open()
            self._waiting.append(ticket)
            self._serve_next()
            if not ticket.has_slot and len(self._waiting) > self.max_depth:
                self._waiting.remove(ticket)
                raise self._overloaded()
        return ticket

    def check_room(self) -> None:
        """Raises EngineOverloaded if enter() would do so now."""
        with self._turn:
            if self._slot.locked() and len(self._waiting) >= self.max_depth:
                raise self._overloaded()

    def wait(self, ticket: Ticket, seconds: float) -> bool:
        """Waits for the ticket's turn, at most so long; returns whether it has come. Raises ShuttingDown."""
        with self._turn:
            self._turn.wait_for(lambda: ticket.has_slot or self._is_closed, seconds)
            if not ticket.has_slot:
                self._check_open()
            return ticket.has_slot

    def leave(self, ticket: Ticket) -> bool:
        """Gives a place in the line up; False if the ticket's turn has come already."""
        with self._turn:
            if ticket in self._waiting:
                self._waiting.remove(ticket)
            return not ticket.has_slot

    def release(self) -> None:
        """Frees the slot and serves the next in line."""
        with self._turn:
            self._slot.release()
            self._serve_next()

    def close(self) -> None:
        """Sends everybody in the line away; who has the slot keeps it until its release."""
        with self._turn:
            self._is_closed = True
            self._waiting.clear()
            self._turn.notify_all()

    def _overloaded(self) -> EngineOverloaded:
        return EngineOverloaded(f"the queue is full ({self.max_depth} waiting); try again later")

    def _check_open(self) -> None:
        if self._is_closed:
            raise ShuttingDown("the server is shutting down")

    def _serve_next(self) -> None:
        if self._waiting and self._slot.acquire(blocking=False):
            ticket = self._waiting.popleft()
            ticket.has_slot = True
            ticket.on_turn()
            self._turn.notify_all()
