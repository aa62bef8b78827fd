"""Errors of every kind have one shape."""

import logging
import threading

import pytest

from tests.scripted import a_request
from tests.web.conftest import CHAT, HI


def error_of(response):
    assert response.content_type == "application/json"
    (error,) = response.get_json().values()
    assert list(error) == ["message", "type", "param", "code"]
    return error


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nope", 404),
        ("GET", "/", 404),
        ("GET", CHAT, 405),
        ("POST", "/health", 405),
        ("DELETE", "/v1/models", 405),
        ("GET", "/v1/models/a/b", 404),
        ("GET", "/v1/models/a%2Fb", 404),
        ("POST", f"{CHAT}/", 400),  # served: its body is what is wrong
    ],
)
def test_routing(serve, method, path, status):
    response = serve().client.open(path, method=method)
    assert response.status_code == status
    assert error_of(response)["type"] == "invalid_request_error"
    assert ("Allow" in response.headers) == (status == 405)


@pytest.mark.parametrize("path", ["/health", "/health/", "/health/live", "/v1/models", "/v1/models/maple-preview"])
def test_get_routes_answer_head(serve, path):
    response = serve().client.head(path)
    assert (response.status_code, response.data) == (200, b"")


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (b"", None),
        (b"{bad", None),
        (b"[1]", None),
        (b'"x"', None),
        (b"null", None),
        (b"5", None),
        (b'{"a":"\xff"}', None),
        (b'{"temperature":NaN}', None),
        (b'{"user":"\\ud83d"}', "user"),
        (b'{"a":' + b"9" * 5000 + b"}", None),
        (b'{"x":' + b"[" * 20_000 + b"]" * 20_000 + b"}", None),
        (b'{"x":' + b'{"y":' * 400 + b"1" + b"}" * 401, "x"),
    ],
)
def test_unusable_bodies(serve, body, param):
    response = serve().client.post(CHAT, data=body, content_type="application/json")
    assert response.status_code == 400
    assert error_of(response)["param"] == param


@pytest.mark.parametrize(
    "content_type", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]
)
def test_any_content_type_is_taken(serve, content_type):
    body = b'\xef\xbb\xbf{"messages": [{"role": "user", "content": "hi"}]}'
    assert serve().client.post(CHAT, data=body, content_type=content_type).status_code == 200


def test_a_body_over_the_limit(serve):
    server = serve(max_body_mb=0.001)
    limit = server.app.config["MAX_CONTENT_LENGTH"]
    body = b'{"messages": [{"role": "user", "content": "hi"}]}'
    assert server.client.post(CHAT, data=body.ljust(limit)).status_code == 200
    response = server.client.post(CHAT, data=body.ljust(limit + 1))
    assert response.status_code == 413
    error_of(response)


def test_a_compressed_body(serve):
    response = serve().client.post(CHAT, data=b"x", headers={"Content-Encoding": "gzip"})
    assert response.status_code == 415
    error_of(response)


def test_an_unexpected_error_goes_to_the_log_and_not_to_the_client(serve, caplog):
    server = serve()
    server.engine.status = lambda: 1 / 0
    with caplog.at_level(logging.ERROR):
        response = server.client.get("/health")
    assert response.status_code == 500
    error = error_of(response)
    assert (error["type"], error["code"]) == ("server_error", None)
    assert "division" not in error["message"]
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize("stream", [False, True])
def test_a_full_queue(serve, stream):
    server = serve(max_queue_depth=0)
    generation = server.engine.submit(long_request(server))
    response = server.client.post(CHAT, json=HI | {"stream": stream})
    generation.close()
    assert (response.status_code, response.headers["Retry-After"]) == (503, "5")
    assert error_of(response)["code"] == "engine_overloaded"


def long_request(server):
    """A request that holds the slot until the engine is stopped."""
    server.model.gates[0] = threading.Event()
    return a_request()
