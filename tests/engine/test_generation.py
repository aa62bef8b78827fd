import dataclasses
import threading
import time

import pytest

from maple.errors import EngineOverloaded
from tests.scripted import a_request, is_idle, read_all, read_first, ready_engine, scripted_engine, wait_until


def test_what_a_generation_tells():
    with scripted_engine(["pl", "an", "</think>", "done"]) as (engine, _):
        generation = engine.submit(a_request([1, 2, 3, 4]))
        assert read_all(generation) == "plan</think>done"
        assert (generation.finish_reason, generation.prompt_tokens, generation.completion_tokens) == ("stop", 4, 5)
        assert [generation.tokens_before(offset) for offset in (0, 3, 4, 99)] == [0, 1, 2, 5]
        assert generation.started
        assert generation.cached_tokens == 0


def test_reading_gives_none_while_nothing_comes():
    with scripted_engine(["a", "b"]) as (engine, model):
        model.gates[1] = threading.Event()
        generation = engine.submit(a_request())
        assert read_first(generation) == "a"
        assert generation.read(0.02) is None
        assert not generation.finished
        model.gates[1].set()
        assert read_all(generation) == "b"


def test_the_slot_is_free_for_who_has_read_the_last_of_the_text(monkeypatch):
    with scripted_engine(["a"], max_queue_depth=0) as (engine, _):
        release = engine._queue.release
        monkeypatch.setattr(engine._queue, "release", lambda: time.sleep(0.01) or release())
        for _ in range(3):
            assert read_all(engine.submit(a_request())) == "a"


def test_the_same_request_gives_the_same_text(real_checkpoint):
    sampling = dataclasses.replace(a_request().sampling, temperature=1.0, seed=11)
    engine = ready_engine(real_checkpoint)
    texts = {read_all(engine.submit(a_request([9, 8, 7], 12, sampling=sampling))) for _ in range(3)}
    engine.stop()
    assert len(texts) == 1


def test_closing_a_running_one_stops_it_within_one_token():
    with scripted_engine(["a"], ends=False) as (engine, model):
        model.gates = {1: threading.Event()}
        generation = engine.submit(a_request(max_new_tokens=4000))
        assert read_first(generation) == "a"
        generation.close()
        model.gates.pop(1).set()
        assert wait_until(lambda: is_idle(engine))
        assert generation.completion_tokens <= 2


def test_who_closes_leaves_the_line_and_is_never_generated():
    with scripted_engine(["a", "b"]) as (engine, model):
        model.gates[1] = threading.Event()
        running, leaving, staying = (engine.submit(a_request([number])) for number in (1, 2, 3))
        assert engine.status().queue_depth == 2
        leaving.close()
        assert (engine.status().queue_depth, engine.status().active) == (1, 1)
        model.gates[1].set()
        assert read_all(running) == read_all(staying) == "ab"
        assert [fed[0] for fed in model.fed] == [1, 3]
        leaving.close()
        assert is_idle(engine)


def test_closing_what_is_finished_does_no_harm():
    with scripted_engine(["a"]) as (engine, _):
        generation = engine.submit(a_request())
        assert read_all(generation) == "a"
        generation.close()
        generation.close()
        assert read_all(engine.submit(a_request())) == "a"


def test_waiting_too_long_is_overload_and_disturbs_nobody():
    with scripted_engine(["a", "b"], queue_timeout=0.1) as (engine, model):
        model.gates[1] = threading.Event()
        running = engine.submit(a_request([1]))
        waiting = engine.submit(a_request([2]))
        assert read_first(running) == "a"
        started = time.monotonic()
        with pytest.raises(EngineOverloaded):
            read_all(waiting)
        assert time.monotonic() - started < 10
        assert (engine.status().queue_depth, engine.status().active) == (0, 1)
        assert running.read(0.15) is None  # the timeout is for waiting alone
        model.gates[1].set()
        assert read_all(running) == "b"
        assert [fed[0] for fed in model.fed] == [1]
