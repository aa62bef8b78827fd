"""Streams that wait, fail or lose their client."""

import json
import threading
import time

import pytest

from tests.scripted import a_request, wait_until
from tests.web.conftest import CHAT, HI, events_of

STREAM = HI | {"stream": True}


def blocked(server):
    """A generation that holds the slot until its gate opens, and the gate."""
    gate = server.model.gates[0] = threading.Event()
    return server.engine.submit(a_request()), gate


@pytest.mark.parametrize(
    ("pieces", "fails_at", "expected"),
    [
        (["t</think>ab", "c"], 0, {}),
        (["t</think>ab", "c"], 1, {"reasoning_content": "t", "content": "ab"}),
        (["t</think>ab <tool", "_call>"], 1, {"reasoning_content": "t", "content": "ab <tool"}),
        (["t </thi", "nk>"], 1, {"reasoning_content": "t </thi"}),
    ],
)
def test_a_failure_comes_in_band_after_the_text_before_it(serve, pieces, fails_at, expected):
    server = serve(pieces)
    server.model.fails_at = fails_at
    tools = [{"type": "function", "function": {"name": "f"}}]
    response = server.client.post(CHAT, json=STREAM | {"tools": tools})
    assert response.status_code == 200
    first, *chunks, error, done = events_of(response)
    assert done == "[DONE]"
    assert error["error"]["type"] == "server_error"
    assert "secret" not in json.dumps(error)
    assert first["choices"][0]["delta"]["role"] == "assistant"
    assert all(chunk["choices"][0]["finish_reason"] is None for chunk in chunks)
    text = {}
    for chunk in chunks:
        for name, value in chunk["choices"][0]["delta"].items():
            text[name] = text.get(name, "") + value
    assert text == expected
    whole = server.client.post(CHAT, json=HI | {"tools": tools})
    assert (whole.status_code, whole.get_json()["error"]["type"]) == (500, "server_error")
    assert server.engine.status().active == 0


def test_the_first_chunk_comes_before_the_first_token(serve):
    server = serve()
    gate = server.model.gates[0] = threading.Event()
    response = server.client.post(CHAT, json=STREAM)
    stream = response.response
    assert b'"role": "assistant"' in next(stream)
    gate.set()
    assert b"data: [DONE]" in list(stream)[-1]
    response.close()


def test_silence_is_filled_with_comments(serve):
    server = serve(["long", "er", "</think>ab"], keepalive_seconds=0.1)
    server.model.delay = 0.15
    for body in (STREAM, STREAM | {"include_reasoning": False}):
        text = server.client.post(CHAT, json=body).get_data(as_text=True)
        assert ": keep-alive\n\n" in text
        assert text.index(": keep-alive") > text.index("assistant")


def test_a_waiting_stream_times_out_with_a_status_while_it_has_sent_nothing(serve):
    server = serve(queue_timeout=0.2)
    blocked(server)
    response = server.client.post(CHAT, json=STREAM)
    assert (response.status_code, response.headers["Retry-After"]) == (503, "5")
    assert response.get_json()["error"]["code"] == "engine_overloaded"
    assert server.engine.status().queue_depth == 0


def test_a_waiting_stream_opens_in_time_and_times_out_in_band_after_that(serve):
    server = serve(queue_timeout=0.6, stream_open_after=0.1, keepalive_seconds=0.1)
    blocked(server)
    response = server.client.post(CHAT, json=STREAM)
    text = response.get_data(as_text=True)
    assert response.status_code == 200
    assert ": keep-alive\n\n" in text
    first, error, done = [line[6:] for line in text.split("\n\n") if line.startswith("data")]
    assert '"role"' in first
    assert json.loads(error)["error"]["code"] == "engine_overloaded"
    assert done == "[DONE]"


def test_a_waiting_stream_is_served_when_its_turn_comes(serve):
    server = serve(["t</think>a"], stream_open_after=0.05)
    _, gate = blocked(server)
    threading.Timer(0.4, gate.set).start()
    events = events_of(server.client.post(CHAT, json=STREAM))
    assert events[-2]["choices"][0]["finish_reason"] == "stop"


@pytest.mark.parametrize("body", [HI, STREAM])
@pytest.mark.parametrize("is_waiting", [False, True])
def test_a_client_that_has_left_ends_its_request_and_no_other(serve, body, is_waiting):
    server = serve(["a", "b"], stream_open_after=0 if body is STREAM else 20)
    gate = server.model.gates[0] = threading.Event()
    other = server.engine.submit(a_request()) if is_waiting else None
    has_left = threading.Event()
    threading.Timer(0.1, has_left.set).start()
    response = server.client.post(CHAT, json=body, environ_overrides={"waitress.client_disconnected": has_left.is_set})
    assert b"[DONE]" not in response.get_data()
    response.close()
    assert server.engine.status().queue_depth == 0
    gate.set()
    assert wait_until(lambda: server.engine.status().active == 0)
    if other is not None:
        assert wait_until(lambda: other.read(0.1) == "a")
        assert len(server.model.fed) == 1


def test_closing_a_stream_cancels_even_before_it_began(serve):
    server = serve(["a"], ends=False)
    server.model.delay = 0.01
    response = server.client.post(CHAT, json=STREAM)
    assert server.engine.status().active == 1
    response.close()
    assert wait_until(lambda: server.engine.status().active == 0, 2)


@pytest.mark.parametrize("body", [HI, STREAM])
def test_stopping_the_engine_tells_the_client(serve, body):
    server = serve(["a"], ends=False)
    server.model.delay = 0.01
    threading.Timer(0.2, server.engine.stop).start()
    started = time.monotonic()
    response = server.client.post(CHAT, json=body)
    if body is STREAM:
        error, done = events_of(response)[-2:]
        assert done == "[DONE]"
    else:
        assert response.status_code == 503
        error = response.get_json()
    assert error["error"]["code"] == "shutting_down"
    assert time.monotonic() - started < 3


def test_a_turn_that_comes_while_the_client_is_looked_for_loses_no_text(serve):
    server = serve(["FIRST ", "second", "</think>", "answer"])
    running, gate = blocked(server)

    def open_the_gate_meanwhile():
        gate.set()
        assert wait_until(lambda: server.engine.status().active == 0)  # all of the stream's text is there by now
        return False

    response = server.client.post(
        CHAT, json=STREAM, environ_overrides={"waitress.client_disconnected": open_the_gate_meanwhile}
    )
    deltas = [event["choices"][0]["delta"] for event in events_of(response)[:-1]]
    assert "".join(delta.get("reasoning_content", "") for delta in deltas) == "FIRST second"
    assert "".join(delta.get("content", "") for delta in deltas) == "answer"
    running.close()


@pytest.mark.parametrize("stream", [False, True])
def test_a_full_queue_is_noticed_before_the_prompt_is_rendered(serve, stream):
    server = serve(max_queue_depth=0)
    running, gate = blocked(server)
    unusable = {"messages": HI["messages"], "chat_template_kwargs": {"tokenize": True}, "stream": stream}
    refused = server.client.post(CHAT, json=unusable)
    assert (refused.status_code, refused.json["error"]["code"]) == (503, "engine_overloaded")
    gate.set()
    running.close()
