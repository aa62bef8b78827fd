"""Events on the wire."""

import json

from maple.web import sse
from tests.application import CHAT, HI


def test_each_chunk_is_one_event():
    assert sse.events([{"a": 1}, {"b": "é\n"}]) == 'data: {"a": 1}\n\ndata: {"b": "é\\n"}\n\n'.encode()
    assert sse.events([]) == b""


def test_what_some_clients_take_for_line_ends_is_escaped():
    chunk = {"content": "a\u2028b\u2029c\x85d\r\ne\u2027"}
    event = sse.events([chunk]).decode()
    assert len(event.splitlines()) == 2  # str.splitlines() is such a reader
    assert json.loads(event.removeprefix("data: ")) == chunk
    assert "\u2027" in event


def test_line_ends_of_some_clients_are_escaped_in_a_stream(serve):
    text = serve(["t</think>a\u2028b\x85c"]).client.post(CHAT, json=HI | {"stream": True}).text
    assert "\u2028" not in text
    assert "\x85" not in text
    contents = [json.loads(line[6:])["choices"][0]["delta"].get("content") for line in text.split("\n\n")[:-2]]
    assert "a\u2028b\x85c" in contents


def test_the_headers_keep_proxies_from_holding_a_stream_back():
    response = sse.stream_response([sse.DONE], on_close=lambda: None)
    assert response.content_type == "text/event-stream"
    assert (response.headers["Cache-Control"], response.headers["X-Accel-Buffering"]) == ("no-cache", "no")
    assert "Content-Length" not in response.headers
    assert list(response.iter_encoded()) == [b"data: [DONE]\n\n"]


def test_on_close_is_called_even_if_the_stream_never_began():
    closed = []
    response = sse.stream_response(iter([sse.DONE]), on_close=lambda: closed.append(True))
    assert closed == []
    response.close()
    assert closed == [True]
