"""Errors of every kind have one shape."""

import logging

import pytest
from flask import Flask, abort

from maple import errors as meanings
from maple.web import errors
from maple.web.client import ClientGone
from tests.application import CHAT, error_of


def reply_to(error, path="/x"):
    """The reply of an application whose only route raises this, or aborts with this status."""
    app = Flask("test")
    errors.register(app)

    @app.get("/x")
    def fail():
        if isinstance(error, int):
            abort(error, "odd words")
        raise error

    return app.test_client().get(path)


@pytest.mark.parametrize(
    ("error", "status", "fields"),
    [
        (meanings.InvalidRequest("m", param="a[1]"), 400, ("m", "invalid_request_error", "a[1]", None)),
        (meanings.ModelNotFound("m", param="model"), 404, ("m", "invalid_request_error", "model", "model_not_found")),
        (meanings.ModelLoading("m"), 503, ("m", "server_error", None, "model_loading")),
        (meanings.GenerationFailed("m"), 500, ("m", "server_error", None, None)),
        (415, 415, ("odd words", "invalid_request_error", None, None)),
        (413, 413, ("the request body is too large", "invalid_request_error", None, None)),
        (502, 502, ("odd words", "server_error", None, None)),
    ],
    ids=repr,
)
def test_the_shape(error, status, fields):
    assert tuple(error_of(reply_to(error), status).values()) == fields


@pytest.mark.parametrize(
    ("error", "name", "value"),
    [
        (meanings.InvalidApiKey("m"), "WWW-Authenticate", "Bearer"),
        (meanings.EngineOverloaded("m"), "Retry-After", "5"),
    ],
)
def test_headers_that_belong_to_an_error(error, name, value):
    assert reply_to(error).headers[name] == value


def test_a_client_that_has_left_is_no_error():
    response = reply_to(ClientGone())
    assert (response.status_code, response.data) == (499, b"")


def test_an_unexpected_error_goes_to_the_log_and_not_to_the_client(caplog):
    with caplog.at_level(logging.ERROR):
        error = error_of(reply_to(ZeroDivisionError("secret")), 500)
    assert (error["type"], error["code"]) == ("server_error", None)
    assert "secret" not in error["message"]
    assert "ZeroDivisionError: secret" in caplog.text


@pytest.mark.parametrize(
    ("method", "path", "status", "allow"),
    [("GET", "/nope", 404, None), ("GET", CHAT, 405, {"OPTIONS", "POST"}), ("POST", "/health", 405, {"GET", "HEAD"})],
)
def test_errors_of_routing_name_method_and_path(serve, method, path, status, allow):
    response = serve().client.open(path, method=method)
    assert error_of(response, status)["message"].endswith(f": {method} {path}")
    assert allow is None or allow <= set(response.headers["Allow"].split(", "))
