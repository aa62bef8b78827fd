"""C68 and D14: a full queue, the real server, many clients at once."""

import json
import threading
import time

import pytest

from tests.functional.server import hang_up, read_events, running_server
from tests.scripted import wait_until

DEPTH = 4
CHAT = "/v1/chat/completions"
BODY = {"messages": [{"role": "user", "content": "go on"}]}


@pytest.fixture(scope="module")
def server(endless_checkpoint):
    with running_server(
        endless_checkpoint, max_queue_depth=DEPTH, queue_timeout=8, stream_open_after=1, keepalive_seconds=0.5
    ) as running:
        running.wait_until_ready()
        yield running


@pytest.fixture
def busy(server):
    """Somebody streams for as long as the test runs; yields the function that ends it."""
    connection = server.connect()
    connection.request("POST", CHAT, body=json.dumps(BODY | {"stream": True, "max_tokens": 3900}))
    response = connection.getresponse()
    assert response.status == 200
    yield lambda: hang_up(connection, response)
    hang_up(connection, response)
    assert server.wait_until_idle(10)["active"] == 0


def run_together(calls):
    """Runs each call in a thread of its own; returns their results in order."""
    results = [None] * len(calls)

    def run(index, call):
        results[index] = call()

    threads = [threading.Thread(target=run, args=item) for item in enumerate(calls)]
    for thread in threads:
        thread.start()
    return threads, results


def test_beyond_the_depth_the_answer_is_503_at_once(server, busy):
    waiters, answers = run_together([lambda: server.send("POST", CHAT, BODY | {"max_tokens": 2})] * DEPTH)
    assert wait_until(lambda: server.get("/health")[1]["queue_depth"] == DEPTH, 5)
    for stream in (False, True):
        status, body, headers = server.send("POST", CHAT, BODY | {"max_tokens": 2, "stream": stream})
        assert (status, body["error"]["code"]) == (503, "engine_overloaded")
        assert headers["Retry-After"] == "5"
        assert headers["Content-Type"] == "application/json"
    health = server.get("/health")[1]
    assert (health["active"], health["queue_depth"]) == (1, DEPTH)
    assert server.get("/v1/models")[0] == 200
    busy()
    for thread in waiters:
        thread.join()
    assert [status for status, _, _ in answers] == [200] * DEPTH


def test_many_at_once_are_answered_or_refused_and_never_both(server):
    calls = [lambda n=n: server.send("POST", CHAT, BODY | {"max_tokens": 5, "stream": False}) for n in range(24)]
    threads, answers = run_together(calls)
    for thread in threads:
        thread.join()
    statuses = [status for status, _, _ in answers]
    assert set(statuses) <= {200, 503}
    assert statuses.count(200) > DEPTH
    for status, body, _ in answers:
        if status == 503:
            assert body["error"]["code"] == "engine_overloaded"
        else:
            assert body["usage"]["completion_tokens"] == 5


def test_waiting_too_long_is_a_503(server, busy):
    started = time.monotonic()
    status, body, headers = server.send("POST", CHAT, BODY)
    assert (status, body["error"]["code"], headers["Retry-After"]) == (503, "engine_overloaded", "5")
    assert time.monotonic() - started >= 8
    assert server.get("/health")[1]["active"] == 1


def test_a_stream_that_waits_opens_keeps_alive_and_times_out_in_band(server, busy):
    connection = server.connect()
    connection.request("POST", CHAT, body=json.dumps(BODY | {"stream": True}))
    response = connection.getresponse()
    assert response.status == 200
    lines = response.read().decode().split("\n\n")
    assert json.loads(lines[0].removeprefix("data: "))["choices"][0]["delta"]["role"] == "assistant"
    assert ": keep-alive" in lines
    assert json.loads(lines[-3].removeprefix("data: "))["error"]["code"] == "engine_overloaded"
    assert lines[-2:] == ["data: [DONE]", ""]
    connection.close()


def test_a_stream_whose_turn_comes_after_it_opened_is_served(server, busy):
    connection = server.connect()
    connection.request("POST", CHAT, body=json.dumps(BODY | {"stream": True, "max_tokens": 3}))
    events = read_events(connection.getresponse())
    assert json.loads(next(events))["choices"][0]["delta"]["role"] == "assistant"
    busy()
    rest = list(events)
    assert json.loads(rest[-2])["choices"][0]["finish_reason"] == "length"
    assert rest[-1] == "[DONE]"
    connection.close()


def test_first_come_first_served(server, busy):
    order = []

    def ask(n):
        server.send("POST", CHAT, BODY | {"max_tokens": 20})
        order.append(n)

    threads = []
    for n in range(DEPTH):
        thread = threading.Thread(target=ask, args=(n,))
        thread.start()
        threads.append(thread)
        assert wait_until(lambda n=n: server.get("/health")[1]["queue_depth"] == n + 1, 5)
    busy()
    for thread in threads:
        thread.join()
    assert order == list(range(DEPTH))
