"""The API key."""

import pytest
from flask import Flask

from maple.errors import InvalidApiKey
from maple.settings import Settings
from maple.web.auth import require_api_key
from maple.web.services import Services
from tests.application import CHAT

KEY = "s3cret"


def admits(api_key, header) -> bool:
    app = Flask("test")
    app.extensions["maple"] = Services(Settings(api_key=api_key), engine=None)
    environ = {} if header is None else {"HTTP_AUTHORIZATION": header}
    with app.test_request_context("/v1/models", environ_overrides=environ):
        try:
            require_api_key()
        except InvalidApiKey:
            return False
    return True


@pytest.mark.parametrize(
    ("api_key", "header", "is_admitted"),
    [
        (KEY, None, False),
        (KEY, "", False),
        (KEY, "Bearer", False),
        (KEY, "Bearer ", False),
        (KEY, "Bearer caf\xe9", False),
        (KEY, "Bearer \u20ac", False),
        (KEY, f"Basic {KEY}", False),
        (KEY, KEY, False),
        (KEY, f"Bearer {KEY}x", False),
        (KEY, f"Bearer {KEY}", True),
        (KEY, f"bearer {KEY}", True),
        (KEY, f"Bearer  {KEY} ", True),
        ("schlüssel", "Bearer " + "schlüssel".encode().decode("latin-1"), True),
        ("schlüssel", "Bearer schlüssel", False),
        (b"\xff".decode("utf-8", "surrogateescape"), "Bearer \xff", True),
        (" ", "Bearer ", False),
        (" ", "Bearer  ", False),
        ("", None, True),
        ("", "Bearer any", True),
    ],
)
def test_headers(api_key, header, is_admitted):
    assert admits(api_key, header) == is_admitted


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/health", 200),
        ("GET", "/health/live", 200),
        ("GET", "/nope", 401),
        ("GET", CHAT, 401),
        ("POST", CHAT, 401),
        ("POST", "/health", 401),
        ("OPTIONS", CHAT, 200),
    ],
)
def test_what_is_open_without_the_key(serve, method, path, status):
    assert serve(api_key=KEY).client.open(path, method=method).status_code == status
