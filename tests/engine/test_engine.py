import sys
import threading
import time

import pytest

from maple.engine import Engine
from maple.errors import (
    CheckpointError,
    ContextLengthExceeded,
    EngineOverloaded,
    GenerationFailed,
    InvalidRequest,
    ModelFailed,
    ModelLoading,
    ShuttingDown,
)
from maple.settings import Settings
from tests.scripted import (
    a_request,
    is_idle,
    read_all,
    read_first,
    ready_engine,
    scripted_checkpoint,
    scripted_engine,
    wait_until,
)

# Loading


def test_while_the_weights_load():
    gate, checkpoint = threading.Event(), scripted_checkpoint(["a"])

    def load(settings, on_progress):
        on_progress(0.25)
        assert gate.wait(20)
        return checkpoint

    engine = Engine(load)
    engine.start(Settings())
    assert wait_until(lambda: engine.status().progress == 0.25)
    status = engine.status()
    assert (status.state, status.error, status.device, status.dtype, status.load_seconds) == (
        "loading",
        None,
        None,
        None,
        None,
    )
    with pytest.raises(ModelLoading, match="25%"):
        engine.require_ready()
    with pytest.raises(ModelLoading):
        engine.submit(a_request())
    gate.set()
    assert wait_until(lambda: engine.status().state == "ok")
    status = engine.status()
    assert (status.progress, status.device, status.dtype, status.attention) == (1, "cpu", "float32", "torch-sdpa")
    assert status.load_seconds >= 0
    assert engine.require_ready() is checkpoint
    assert read_all(engine.submit(a_request())) == "a"
    engine.stop()


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (CheckpointError("tensor lm_head.weight is missing"), "tensor lm_head.weight is missing"),
        (MemoryError("no room"), "MemoryError: no room"),
    ],
)
def test_a_failed_load_keeps_its_reason(error, message, caplog):
    def load(settings, on_progress):
        on_progress(0.5)
        raise error

    engine = Engine(load)
    engine.start(Settings())
    assert wait_until(lambda: engine.status().state == "error")
    assert (engine.status().error, engine.status().load_seconds) == (message, None)
    for _ in range(2):
        with pytest.raises(ModelFailed, match=message):
            engine.submit(a_request())
    assert wait_until(lambda: "could not be loaded" in caplog.text)
    engine.stop()


def test_it_can_be_stopped_while_it_loads():
    gate = threading.Event()
    engine = Engine(lambda settings, on_progress: gate.wait(20) and scripted_checkpoint(["a"]))
    engine.start(Settings())
    started = time.monotonic()
    engine.stop()
    assert time.monotonic() - started < 2  # it does not wait for the weights
    with pytest.raises(ShuttingDown):
        engine.submit(a_request())
    gate.set()
    engine._thread.join(20)
    assert not engine._thread.is_alive()


# Prompts


@pytest.mark.parametrize("ids", [[-1], [1, 353], [2**31], [2**63], [2**70], [-(2**70), 5], [1] * 5 + [353]])
def test_ids_that_are_no_rows_of_the_embedding_are_refused(ids):
    with scripted_engine(["a"]) as (engine, model):
        assert model.config.vocab_size == 353
        with pytest.raises(InvalidRequest) as caught:
            engine.submit(a_request(ids))
        assert caught.value.param == "prompt"
        assert is_idle(engine)
        assert read_all(engine.submit(a_request([352 - 1]))) == "a"


def test_an_empty_prompt_is_refused():
    with scripted_engine(["a"]) as (engine, _), pytest.raises(InvalidRequest):
        engine.submit(a_request([]))


@pytest.mark.parametrize(("setting", "context", "longest"), [(16, 4096, 16), (1000, 50, 49), (49, 50, 49)])
def test_too_long_a_prompt_is_refused_and_the_longest_is_not(setting, context, longest):
    with scripted_engine(["a"], ends=False, context_length=context, max_prompt_tokens=setting) as (engine, _):
        with pytest.raises(ContextLengthExceeded, match=str(longest)):
            engine.submit(a_request([1] * (longest + 1)))
        assert is_idle(engine)
        generation = engine.submit(a_request([1] * longest, max_new_tokens=5))
        assert read_all(generation) == "a" * min(5, context - longest)
        assert generation.finish_reason == "length"


# Failures


@pytest.mark.parametrize("fails_at", [0, 1, 3])
def test_an_error_in_the_model_comes_after_the_text_before_it(fails_at, caplog):
    pieces = ["t", "</think>", "ab", "c"]
    with scripted_engine(pieces) as (engine, model):
        model.fails_at = fails_at
        generation, text = engine.submit(a_request(stop=["ab!"])), []
        with pytest.raises(GenerationFailed) as caught:
            read_all(generation, into=text)
        assert "".join(text) == "".join(pieces[:fails_at])  # "ab" was held back and is released
        assert "secret" not in caught.value.message
        assert "secret" in caplog.text
        assert generation.finished
        assert is_idle(engine)
        model.fails_at = None
        assert read_all(engine.submit(a_request())) == "".join(pieces)


def test_requests_in_line_behind_a_failure_are_served():
    with scripted_engine(["a", "b"]) as (engine, model):
        model.gates[1], model.fails_at = threading.Event(), 1
        failing = engine.submit(a_request())
        waiting = engine.submit(a_request())
        assert read_first(failing) == "a"
        assert not waiting.started
        model.gates[1].set()
        with pytest.raises(GenerationFailed):
            read_all(failing)
        with pytest.raises(GenerationFailed):
            read_all(waiting)  # it ran too, up to the same token
        assert is_idle(engine)


# The line


def test_beyond_the_depth_it_is_refused_at_once():
    with scripted_engine(["a", "b"], max_queue_depth=2) as (engine, model):
        model.gates[1] = threading.Event()
        accepted = [engine.submit(a_request()) for _ in range(3)]
        with pytest.raises(EngineOverloaded) as caught:
            engine.submit(a_request())
        assert caught.value.headers == {"Retry-After": "5"}
        assert (engine.status().queue_depth, engine.status().active) == (2, 1)
        model.gates[1].set()
        assert [read_all(generation) for generation in accepted] == ["ab"] * 3


def test_many_threads_are_each_served_or_refused():
    with scripted_engine(["a", "b", "c"], max_queue_depth=4) as (engine, model):
        model.gates[0] = threading.Event()
        outcomes = []

        def ask():
            try:
                generation = engine.submit(a_request())
            except EngineOverloaded:
                outcomes.append("refused")
            else:
                outcomes.append(read_all(generation))

        threads = [threading.Thread(target=ask) for _ in range(20)]
        for thread in threads:
            thread.start()
        assert wait_until(lambda: outcomes.count("refused") == 15)
        assert (engine.status().active, engine.status().queue_depth) == (1, 4)
        model.gates[0].set()
        for thread in threads:
            thread.join(20)
        assert sorted(outcomes) == ["abc"] * 5 + ["refused"] * 15
        assert is_idle(engine)


# The end


def test_stop_ends_the_running_and_the_waiting():
    checkpoint = scripted_checkpoint(["a"], ends=False)
    checkpoint.model.delay = 0.005
    engine = ready_engine(checkpoint)
    running, waiting = (engine.submit(a_request(max_new_tokens=4000)) for _ in range(2))
    assert read_first(running) == "a"
    engine.stop()
    assert not engine._thread.is_alive()
    for generation in (running, waiting):
        with pytest.raises(ShuttingDown):
            read_all(generation)
    assert len(checkpoint.model.fed) == 1
    assert is_idle(engine)
    with pytest.raises(ShuttingDown):
        engine.submit(a_request())
    engine.stop()


def test_stop_does_not_wait_for_ever(monkeypatch):
    monkeypatch.setattr(sys.modules[Engine.__module__], "STOP_SECONDS", 0.05)
    with scripted_engine(["a", "b"]) as (engine, model):
        model.gates[1] = threading.Event()
        running = engine.submit(a_request())
        assert wait_until(lambda: model.fed and len(model.fed[0]) == 4)  # it computes the second token
        engine.stop()
        assert engine._thread.is_alive()
        model.gates[1].set()
        with pytest.raises(ShuttingDown):
            read_all(running)


def test_an_idle_engine_stops_at_once():
    engine = ready_engine(scripted_checkpoint(["a"]))
    engine.stop()
    assert not engine._thread.is_alive()


def test_it_starts_once():
    with scripted_engine(["a"]) as (engine, _), pytest.raises(RuntimeError, match="started already"):
        engine.start(Settings())
