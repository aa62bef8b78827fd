"""C64 to C66: clients that leave, on the real server with a model that would go on for ever."""

import json
import socket
import time

import pytest

from tests.functional.server import hang_up, read_events, running_server

ENDLESS = {"messages": [{"role": "user", "content": "go on"}], "max_tokens": 3000}
SHORT = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 3}
FREE_SECONDS = 2  # for the slot after a client has left; without a look at the client it would be half a minute


@pytest.fixture(scope="module")
def server(endless_checkpoint):
    with running_server(endless_checkpoint) as running:
        running.wait_until_ready()
        yield running


def open_request(server, body, path="/v1/chat/completions"):
    """A raw socket with the request sent on it."""
    payload = json.dumps(body).encode()
    connection = socket.create_connection(("127.0.0.1", server.port))
    head = (
        f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(payload)}\r\n\r\n"
    )
    connection.sendall(head.encode() + payload)
    return connection


def health_when(server, **expected):
    """Waits until /health shows these values."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        health = server.get("/health")[1]
        if all(health[name] == value for name, value in expected.items()):
            return health
        time.sleep(0.02)
    raise AssertionError(f"{health} never showed {expected}")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(ENDLESS, id="C65-not-streaming"),
        pytest.param(ENDLESS | {"stream": True}, id="C64-streaming"),
        pytest.param(ENDLESS | {"stream": True, "include_reasoning": False}, id="C65-hidden-reasoning"),
    ],
)
def test_a_client_that_leaves_frees_the_slot(server, body):
    connection = open_request(server, body)
    health_when(server, active=1)
    if body.get("stream"):
        assert connection.recv(100).startswith(b"HTTP/1.1 200")
    connection.close()
    assert server.wait_until_idle(FREE_SECONDS)["active"] == 0
    assert server.post("/v1/chat/completions", SHORT)[0] == 200


def test_a_client_that_leaves_in_the_prompt_frees_the_slot(server):
    prompt = {"prompt": [5] * 3500, "max_tokens": 500}
    connection = open_request(server, prompt, "/v1/completions")
    health_when(server, active=1)
    connection.close()
    assert server.wait_until_idle(FREE_SECONDS)["active"] == 0


def test_a_half_closed_client_counts_as_gone(server):
    connection = open_request(server, ENDLESS)
    health_when(server, active=1)
    connection.shutdown(socket.SHUT_WR)
    assert server.wait_until_idle(FREE_SECONDS)["active"] == 0
    connection.close()


def test_a_waiting_client_that_leaves_disturbs_nobody(server):
    running = open_request(server, ENDLESS | {"stream": True})
    health_when(server, active=1)
    leaving = open_request(server, SHORT)
    health_when(server, queue_depth=1)
    staying = open_request(server, SHORT)
    health_when(server, queue_depth=2)
    leaving.close()
    health_when(server, queue_depth=1, active=1)
    running.close()
    answer = staying.makefile("rb").read(12)
    assert answer == b"HTTP/1.1 200"
    staying.close()
    assert server.wait_until_idle(FREE_SECONDS)["active"] == 0


def test_a_waiting_stream_that_leaves_is_never_generated(server):
    running = open_request(server, ENDLESS | {"stream": True})
    health_when(server, active=1)
    leaving = open_request(server, ENDLESS | {"stream": True})
    health_when(server, queue_depth=1)
    leaving.close()
    health_when(server, queue_depth=0, active=1)
    running.close()
    assert server.wait_until_idle(FREE_SECONDS)["active"] == 0


def test_the_first_chunk_comes_before_a_long_prompt_is_read(server):
    connection = server.connect()
    body = ENDLESS | {"messages": [{"role": "user", "content": "x" * 3800}], "stream": True, "max_tokens": 1}
    connection.request("POST", "/v1/chat/completions", body=json.dumps(body))
    response = connection.getresponse()
    first = json.loads(next(read_events(response)))
    assert first["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert server.get("/health")[1]["active"] == 1  # the prompt is still being read
    hang_up(connection, response)
    assert server.wait_until_idle(FREE_SECONDS)["active"] == 0
