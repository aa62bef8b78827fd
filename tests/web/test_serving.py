"""waitress around the application, in this process."""

import contextlib
import http.client
import json
import logging
import socket
import threading
import time

import pytest

from maple.web.serving import Channel, Server
from maple.web.threads import num_threads
from tests.application import CHAT, HI, serving
from tests.scripted import wait_until

MEGABYTE = 1024 * 1024


@contextlib.contextmanager
def listening(*arguments, **settings):
    """A server on a free port; yields it, its application and its port."""
    with serving(*arguments, port=0, **settings) as opened:
        server = Server(opened.app)
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            yield server, opened, int(server.addresses[0].rpartition(":")[2])
        finally:
            server.stop()
            thread.join(10)
            assert not thread.is_alive()


def exchange(port: int, request: bytes) -> tuple[bytes, bytes]:
    """Head and body of the reply to raw bytes."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(request)
        head, _, body = b"".join(iter(lambda: connection.recv(65536), b"")).partition(b"\r\n\r\n")
    return head, body


@pytest.fixture(scope="module")
def port():
    with listening(["t</think>", "ab"], max_body_mb=0.01) as (_, _, port):
        yield port


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"garbage\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nbad header\r\n\r\n", b"400"),
        (b"GET /health HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", b"501"),
        (b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (9 * MEGABYTE), b"413"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nX: " + b"a" * 262_200 + b"\r\n\r\n", b"431"),
    ],
)
def test_the_refusals_of_waitress_itself_have_the_shape(port, request_bytes, status):
    head, body = exchange(port, request_bytes)
    assert head.split()[1] == status
    assert b"Content-Type: application/json" in head
    assert list(json.loads(body)["error"]) == ["message", "type", "param", "code"]


@pytest.mark.parametrize("path", ["/v1/chat/completions", "//v1/chat/completions", "/v1/chat/completions/"])
def test_a_chunked_upload_to_a_path_with_odd_slashes(port, path):
    chunk = json.dumps(HI).encode()
    head = f"POST {path} HTTP/1.1\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n{len(chunk):x}\r\n"
    status, body = exchange(port, head.encode() + chunk + b"\r\n0\r\n\r\n")
    assert b" 200 " in status
    assert json.loads(body)["choices"][0]["message"]["content"] == "ab"


def test_a_chunked_upload_over_the_limit(port):
    head = b"POST /v1/chat/completions HTTP/1.1\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    status, body = exchange(port, head + b"4e20\r\n" + b"x" * 20_000 + b"\r\n0\r\n\r\n")
    assert b" 413 " in status
    assert json.loads(body)["error"]["type"] == "invalid_request_error"


def test_an_old_client_gets_its_stream_unchunked(port):
    body = json.dumps(HI | {"stream": True}).encode()
    head = b"POST /v1/chat/completions HTTP/1.0\r\nContent-Length: %d\r\n\r\n" % len(body)
    status, stream = exchange(port, head + body)
    assert b"Transfer-Encoding" not in status
    assert stream.startswith(b"data: {")
    assert stream.endswith(b"data: [DONE]\n\n")


def test_stop_lets_streams_say_their_last_words():
    with listening(["a"], ends=False) as (server, opened, port):
        opened.model.delay = 0.01
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("POST", CHAT, body=json.dumps(HI | {"stream": True}))
        response = connection.getresponse()
        response.readline()
        server.stop()
        events = [line for line in response.read().decode().split("\n\n") if line]
        assert "shutting_down" in events[-2]
        assert events[-1] == "data: [DONE]"
        connection.close()


def test_stop_does_not_wait_for_a_stuck_thread():
    with listening() as (server, opened, port):
        opened.model.gates[0] = threading.Event()
        with socket.create_connection(("127.0.0.1", port)) as connection:
            body = json.dumps(HI).encode()
            connection.sendall(b"POST %s HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (CHAT.encode(), len(body)) + body)
            while not opened.engine.status().active:
                time.sleep(0.01)
            started = time.monotonic()
            server.stop()
    assert time.monotonic() - started < 4.5


def test_threads_for_the_whole_queue_and_a_reserve():
    with listening(max_queue_depth=3) as (_, opened, _):
        names = [thread.name for thread in threading.enumerate() if thread.name.startswith("waitress-")]
        assert len(names) >= num_threads(opened.app.extensions["maple"].settings) > 1 + 3


def test_a_client_that_does_not_read_is_given_up(monkeypatch):
    monkeypatch.setattr("maple.web.serving.SEND_SECONDS", 0.5)
    with listening(["t</think>"] + ["x" * 100_000] * 40, ends=False) as (_, opened, port):
        body = json.dumps(HI | {"stream": True, "max_tokens": 400}).encode()
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.sendall(b"POST %s HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (CHAT.encode(), len(body)) + body)
            assert wait_until(lambda: opened.engine.status().active == 1)
            assert wait_until(lambda: opened.engine.status().active == 0, 20)
            assert wait_until(lambda: is_reset(connection), 20)


def is_reset(connection: socket.socket) -> bool:
    """Whether the other side has closed: writing to it fails."""
    try:
        connection.sendall(b"x")
    except OSError:
        return True
    return False


@pytest.mark.parametrize(
    ("origins", "origin", "allowed"),
    [
        (("*",), "https://a.example", b"*"),
        (("https://a.example",), "https://a.example", b"https://a.example"),
        (("https://a.example",), "https://b.example", None),
    ],
)
def test_waitress_own_refusals_can_be_read_by_browsers_too(origins, origin, allowed):
    with listening(allowed_origins=origins, max_body_mb=0.001) as (_, _, port):
        request = f"POST {CHAT} HTTP/1.1\r\nOrigin: {origin}\r\nContent-Length: 9000000\r\n\r\n"
        head, _ = exchange(port, request.encode())
    assert b" 413 " in head
    headers = dict(line.split(b": ", 1) for line in head.splitlines()[1:])
    assert headers.get(b"Access-Control-Allow-Origin") == allowed


def test_a_client_that_pipelines_and_leaves_is_noticed():
    with listening(["t</think>", "x"], ends=False) as (_, opened, port):
        opened.model.delay = 0.01
        body = json.dumps(HI | {"max_tokens": 4000}).encode()
        request = b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (CHAT.encode(), len(body)) + body
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(request + 4 * b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
            assert wait_until(lambda: opened.engine.status().active == 1)
        assert wait_until(lambda: opened.engine.status().active == 0, 5)


@pytest.mark.parametrize(
    "line", [b"GET http://[ HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nContent-Length: " + b"9" * 5000 + b"\r\n"]
)
def test_what_the_standard_library_cannot_parse_is_a_400(port, line):
    head, body = exchange(port, line + b"Host: x\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ") or head.startswith(b"HTTP/1.0 400 ")
    assert json.loads(body)["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_leaves_is_no_error_in_the_log(caplog, stream):
    with listening(["t</think>", "x"], ends=False) as (_, opened, port):
        opened.model.delay = 0.01
        body = json.dumps(HI | {"max_tokens": 4000, "stream": stream}).encode()
        request = b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (CHAT.encode(), len(body)) + body
        for _ in range(5):
            with socket.create_connection(("127.0.0.1", port)) as connection:
                connection.sendall(request)
                assert wait_until(lambda: opened.engine.status().active == 1)
            assert wait_until(lambda: opened.engine.status().active == 0, 5)
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


def test_a_channel_that_is_closed_has_no_client():
    channel = Channel.__new__(Channel)
    channel.connected, channel.socket = True, None
    assert channel.check_client_disconnected()
