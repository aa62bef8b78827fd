"""What only a real socket shows: chunked uploads, waitress's own refusals, keep-alives, health under load."""

import contextlib
import json
import socket
import time

import openai
import pytest

from tests.functional.server import hang_up, running_server
from tests.scripted import wait_until

CHAT = "/v1/chat/completions"
SHORT = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 2}
DEPTH = 3


@pytest.fixture(scope="module")
def server(endless_checkpoint):
    with running_server(
        endless_checkpoint, max_body_mb=0.01, max_queue_depth=DEPTH, keepalive_seconds=0.1, stream_open_after=0.1
    ) as running:
        running.wait_until_ready()
        yield running


def exchange(server, *parts: bytes) -> tuple[bytes, dict]:
    """Sends raw bytes; returns the status line and the JSON body of the reply, which ends with the connection."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        for part in parts:
            connection.sendall(part)
        reply = b""
        while (head := reply.partition(b"\r\n\r\n"))[2] == b"" or len(head[2]) < content_length(head[0]):
            received = connection.recv(65536)
            assert received, reply
            reply += received
    assert b"application/json" in head[0]
    return head[0].splitlines()[0], json.loads(head[2])


def content_length(head: bytes) -> int:
    lines = [line for line in head.splitlines() if line.lower().startswith(b"content-length:")]
    return int(lines[0].partition(b":")[2])


def test_c54_a_chunked_upload_is_read(server):
    body = json.dumps(SHORT).encode()
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:7], body[7:])) + b"0\r\n\r\n"
    head = f"POST {CHAT} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    status, reply = exchange(server, head, chunks)
    assert status == b"HTTP/1.1 200 OK"
    assert reply["usage"]["completion_tokens"] == 2


@pytest.mark.parametrize("num_bytes", [10486, 3_000_000], ids=["over Flask's limit", "over waitress's limit"])
def test_c54_a_body_over_the_limit_is_413_in_shape(server, num_bytes):
    head = f"POST {CHAT} HTTP/1.1\r\nHost: x\r\nContent-Length: {num_bytes}\r\n\r\n".encode()
    sent = b"x" * num_bytes if num_bytes < 20_000 else b""
    status, reply = exchange(server, head, sent)
    assert b" 413 " in status
    assert reply["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"GET /health HTTP/1.1\r\nHost: x\r\nBad Header: 1\r\n\r\n",
        b"GET /health HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"GET /health HTTP/1.1\r\nX: " + b"y" * 300_000 + b"\r\n\r\n",
    ],
    ids=["header name", "length", "transfer encoding", "header size"],
)
def test_a_broken_request_is_refused_in_shape(server, request_bytes):
    status, reply = exchange(server, request_bytes)
    assert status[9:10] in (b"4", b"5")
    assert set(reply["error"]) == {"message", "type", "param", "code"}


@contextlib.contextmanager
def streaming(server, **changes):
    connection = server.connect()
    connection.request("POST", CHAT, body=json.dumps(SHORT | {"stream": True, "max_tokens": 3900} | changes))
    response = connection.getresponse()
    try:
        yield response
    finally:
        hang_up(connection, response)


def test_c63_the_sdk_reads_past_keep_alives(server):
    with streaming(server), openai.OpenAI(base_url=f"{server.url}/v1", api_key="x", max_retries=0) as client:
        stream = client.chat.completions.create(model="m", messages=SHORT["messages"], max_tokens=3, stream=True)
        chunks = iter(stream)
        assert next(chunks).choices[0].delta.role == "assistant"
        time.sleep(0.5)  # several keep-alives go by while it waits in the queue
        assert server.get("/health")[1]["queue_depth"] == 1
        stream.close()
    assert server.wait_until_idle(5)["active"] == 0


def test_c63_keep_alives_go_on_while_reasoning_is_hidden(server):
    with streaming(server, include_reasoning=False) as response:
        lines = [response.readline() for _ in range(6)]
    assert lines[0].startswith(b'data: {"id"')
    assert lines[2] == lines[4] == b": keep-alive\n"
    assert server.wait_until_idle(5)["active"] == 0


def test_c68_health_and_models_answer_while_the_queue_is_full(server):
    with contextlib.ExitStack() as clients:
        for _ in range(1 + DEPTH):
            clients.enter_context(streaming(server))
        assert wait_until(lambda: server.get("/health")[1]["queue_depth"] == DEPTH, 5)
        for _ in range(10):
            assert server.get("/health", timeout=5)[1]["active"] == 1
            assert server.get("/v1/models", timeout=5)[0] == 200
            assert server.post(CHAT, SHORT, timeout=5)[0] == 503
    assert server.wait_until_idle(5)["active"] == 0
