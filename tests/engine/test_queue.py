import threading
import time

import pytest

from maple.engine.queue import SlotQueue
from maple.errors import EngineOverloaded, ShuttingDown
from tests.scripted import wait_until


def nothing():
    pass


def enter_named(queue, order, *names):
    """Enters tickets that write their name down when their turn comes."""
    return [queue.enter(lambda name=name: order.append(name)) for name in names]


def test_the_first_has_the_slot_at_once():
    queue, order = SlotQueue(4), []
    (ticket,) = enter_named(queue, order, "a")
    assert (ticket.has_slot, queue.is_busy, queue.depth, order) == (True, True, 0, ["a"])
    queue.release()
    assert (queue.is_busy, queue.depth) == (False, 0)


def test_first_come_first_served():
    queue, order = SlotQueue(4), []
    tickets = enter_named(queue, order, *"abcde")
    assert ([ticket.has_slot for ticket in tickets], queue.depth) == ([True] + [False] * 4, 4)
    for served in range(1, 5):
        queue.release()
        assert order == list("abcde"[: served + 1])
        assert (queue.is_busy, queue.depth) == (True, 4 - served)
    queue.release()
    assert (queue.is_busy, order) == (False, list("abcde"))


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_one_more_than_the_depth_is_refused_and_leaves_no_trace(depth):
    queue, order = SlotQueue(depth), []
    enter_named(queue, order, *range(depth + 1))
    for _ in range(2):
        with pytest.raises(EngineOverloaded, match=str(depth)):
            queue.enter(lambda: order.append("refused"))
        assert queue.depth == depth
    for _ in range(depth + 1):
        queue.release()
    assert (order, queue.is_busy) == (list(range(depth + 1)), False)
    enter_named(queue, order, "again")
    assert order[-1] == "again"


def test_who_leaves_is_passed_over_and_makes_room():
    queue, order = SlotQueue(2), []
    _, second, _ = enter_named(queue, order, "a", "b", "c")
    assert queue.leave(second)
    assert queue.depth == 1
    enter_named(queue, order, "d")
    for _ in range(3):
        queue.release()
    assert order == ["a", "c", "d"]


def test_leaving_twice_does_no_harm():
    queue, order = SlotQueue(2), []
    _, second, _ = enter_named(queue, order, "a", "b", "c")
    assert queue.leave(second)
    assert queue.leave(second)
    assert queue.depth == 1


def test_who_has_the_slot_cannot_leave_the_line():
    queue, order = SlotQueue(2), []
    first, _ = enter_named(queue, order, "a", "b")
    assert not queue.leave(first)
    assert (queue.is_busy, queue.depth, order) == (True, 1, ["a"])


def test_waiting_ends_when_the_turn_comes():
    queue = SlotQueue(1)
    queue.enter(nothing)
    ticket = queue.enter(nothing)
    assert not queue.wait(ticket, 0)
    assert not queue.wait(ticket, 0.01)
    threading.Timer(0.02, queue.release).start()
    assert queue.wait(ticket, 20)
    assert queue.wait(ticket, 0)


def test_a_closed_line_sends_everybody_away_but_the_running_one():
    queue, order = SlotQueue(3), []
    first, second, third = enter_named(queue, order, "a", "b", "c")
    failures = []

    def wait():
        try:
            queue.wait(second, 60)
        except ShuttingDown as error:
            failures.append(error)

    waiter = threading.Thread(target=wait)
    waiter.start()
    time.sleep(0.02)  # so that it is most likely asleep, and has to be woken
    queue.close()
    waiter.join(10)
    assert len(failures) == 1
    with pytest.raises(ShuttingDown):
        queue.wait(third, 0)
    with pytest.raises(ShuttingDown):
        queue.enter(nothing)
    assert queue.wait(first, 0)
    assert (queue.is_busy, queue.depth) == (True, 0)
    queue.release()
    assert (queue.is_busy, order) == (False, ["a"])


def test_many_threads_share_the_slot_one_at_a_time_and_nobody_is_forgotten():
    """Threads enter, wait, leave or work at random; the line stays within its bound and ends empty."""
    queue = SlotQueue(5)
    lock, inside, worked, outcomes = threading.Lock(), [], [], []

    def visit(number):
        for round_ in range(20):
            try:
                ticket = queue.enter(lambda: inside.append(number))
            except EngineOverloaded:
                outcomes.append("refused")
                continue
            patience = 0.0005 if (number + round_) % 4 == 0 else 20
            if not queue.wait(ticket, patience) and queue.leave(ticket):
                outcomes.append("left")
                continue
            with lock:  # the slot is ours: nobody else may be in here
                assert inside == [number]
                assert queue.depth <= queue.max_depth
                worked.append(number)
                inside.clear()
            queue.release()
            outcomes.append("worked")

    threads = [threading.Thread(target=visit, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(outcomes) == 12 * 20
    assert outcomes.count("worked") == len(worked) > 0
    assert (queue.is_busy, queue.depth, inside) == (False, 0, [])


def test_tickets_entered_from_many_threads_are_served_in_the_order_they_entered():
    queue, order = SlotQueue(20), []
    queue.enter(nothing)
    entered = []

    def wait(number):
        ticket = queue.enter(lambda: order.append(number))
        entered.append(number)
        assert queue.wait(ticket, 20)
        queue.release()

    threads = []
    for number in range(10):
        threads.append(threading.Thread(target=wait, args=(number,)))
        threads[-1].start()
        assert wait_until(lambda number=number: queue.depth == number + 1)
    queue.release()
    for thread in threads:
        thread.join(20)
    assert order == entered == list(range(10))


def test_no_time_at_all_is_a_look():
    queue = SlotQueue(1)
    queue.enter(nothing)
    ticket = queue.enter(nothing)
    started = time.monotonic()
    assert not queue.wait(ticket, 0)
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_there_is_room_until_the_line_is_full(depth):
    queue = SlotQueue(depth)
    for _ in range(depth + 1):
        queue.check_room()
        queue.enter(nothing)
    with pytest.raises(EngineOverloaded):
        queue.check_room()
    queue.release()
    if depth:
        queue.check_room()
