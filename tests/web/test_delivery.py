"""A generation's text on its way to the client; the cases J and K ask the same of whole requests."""

import json
import logging
import threading
import time

import pytest
from flask import Flask

from maple.errors import EngineOverloaded, GenerationFailed
from maple.settings import Settings
from maple.web.client import ClientGone
from maple.web.delivery import deliver
from maple.web.text_reply import TextReply
from schemas.generation import GenerationOptions
from tests.application import CHAT, HI, error_of, events_of
from tests.scripted import a_request, wait_until
from tests.web.generations import FakeGeneration

STREAM = HI | {"stream": True}


def delivered(generation, stream=True, is_gone=lambda: False, **settings):
    environ = {"waitress.client_disconnected": is_gone}
    with Flask("test").test_request_context(environ_overrides=environ):
        return deliver(TextReply("m"), generation, GenerationOptions(stream=stream), Settings(**settings))


def test_a_reply_in_one_piece():
    generation = FakeGeneration("a", None, "b")
    response = delivered(generation, stream=False)
    assert json.loads(response.data)["choices"][0]["text"] == "ab"
    assert generation.times_closed == 1


def test_a_stream():
    generation = FakeGeneration("a", None, "b")
    response = delivered(generation)
    first, *blocks, done = response.iter_encoded()
    assert (first, done) == (b": keep-alive\n\n", b"data: [DONE]\n\n")
    texts = [json.loads(block[6:])["choices"][0]["text"] for block in blocks]
    assert texts == ["a", "b", ""]
    assert generation.times_closed == 0
    response.close()
    assert generation.times_closed == 1


@pytest.mark.parametrize("error", [GenerationFailed("no"), KeyError("secret")])
def test_an_error_before_the_first_byte_is_raised(error):
    generation = FakeGeneration("a", error)
    with pytest.raises(type(error)):
        delivered(generation, stream=False)
    assert generation.times_closed == 1


def test_an_error_in_the_queue_is_raised_by_a_stream_too():
    class Waiting(FakeGeneration):
        started = False

        def wait_for_turn(self, seconds):
            raise EngineOverloaded("later")

    generation = Waiting("a")
    with pytest.raises(EngineOverloaded):
        delivered(generation)
    assert generation.times_closed == 1


@pytest.mark.parametrize(
    ("error", "message"), [(GenerationFailed("no"), "no"), (KeyError("secret"), "an unexpected error")]
)
def test_an_error_in_a_stream_comes_in_band(error, message, caplog):
    with caplog.at_level(logging.ERROR):
        *_, text, last, done = delivered(FakeGeneration("a", error)).iter_encoded()
    assert json.loads(text[6:])["choices"][0]["text"] == "a"
    assert message in json.loads(last[6:])["error"]["message"]
    assert b"secret" not in last
    assert done == b"data: [DONE]\n\n"
    assert ("KeyError: 'secret'" in caplog.text) == isinstance(error, KeyError)


def test_nothing_is_sent_to_a_client_that_has_left():
    looks = iter([False, True])
    blocks = list(delivered(FakeGeneration("a", "b", "c"), is_gone=lambda: next(looks)).iter_encoded())
    assert len(blocks) == 2  # the first bytes, and "a"
    generation = FakeGeneration("a", "b", "c")
    with pytest.raises(ClientGone):
        delivered(generation, stream=False, is_gone=lambda: True)
    assert generation.times_closed == 1


def test_silence_is_filled_with_comments_as_often_as_the_settings_say():
    class Slow(FakeGeneration):
        def read(self, seconds):
            time.sleep(min(seconds, 0.04))
            return super().read(seconds)

    *blocks, _, _ = delivered(Slow("a", *[None] * 8, "b"), keepalive_seconds=0.1).iter_encoded()
    comments = [block for block in blocks[1:] if block == b": keep-alive\n\n"]
    assert len(comments) >= 2
    *blocks, _, _ = delivered(Slow("a", *[None] * 8, "b"), keepalive_seconds=5).iter_encoded()
    assert len(blocks) == 3


@pytest.mark.parametrize("body", [HI, STREAM])
def test_stopping_the_engine_tells_the_client(serve, body):
    server = serve(["a"], ends=False)
    server.model.delay = 0.01
    threading.Timer(0.2, server.engine.stop).start()
    started = time.monotonic()
    response = server.client.post(CHAT, json=body)
    error = events_of(response)[-1]["error"] if body is STREAM else error_of(response, 503)
    assert error["code"] == "shutting_down"
    assert time.monotonic() - started < 3


def test_a_turn_that_comes_while_the_client_is_looked_for_loses_no_text(serve):
    server = serve(["FIRST ", "second", "</think>", "answer"])
    gate = server.model.gates[0] = threading.Event()
    running = server.engine.submit(a_request())

    def open_the_gate_meanwhile():
        gate.set()
        assert wait_until(lambda: server.engine.status().active == 0)  # all of the stream's text is there by now
        return False

    response = server.client.post(
        CHAT, json=STREAM, environ_overrides={"waitress.client_disconnected": open_the_gate_meanwhile}
    )
    deltas = [event["choices"][0]["delta"] for event in events_of(response)]
    assert "".join(delta.get("reasoning_content", "") for delta in deltas) == "FIRST second"
    assert "".join(delta.get("content", "") for delta in deltas) == "answer"
    running.close()
