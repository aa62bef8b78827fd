"""The API key, and who may come from where."""

import pytest

from tests.web.conftest import CHAT, HI

KEY = "s3cret"


@pytest.mark.parametrize(
    ("header", "status"),
    [
        (None, 401),
        ("", 401),
        ("Bearer", 401),
        ("Bearer ", 401),
        ("Bearer x", 401),
        ("Bearer caf\xe9", 401),
        ("Bearer \u20ac", 401),
        (f"Basic {KEY}", 401),
        (KEY, 401),
        (f"Bearer {KEY}x", 401),
        (f"Bearer {KEY}", 200),
        (f"bearer {KEY}", 200),
        (f"Bearer  {KEY} ", 200),
    ],
)
def test_authorization_headers(serve, header, status):
    environ = {} if header is None else {"HTTP_AUTHORIZATION": header}
    response = serve(api_key=KEY).client.get("/v1/models", environ_overrides=environ)
    assert response.status_code == status
    if status == 401:
        assert response.headers["WWW-Authenticate"] == "Bearer"
        error = response.get_json()["error"]
        assert (error["type"], error["code"]) == ("invalid_request_error", "invalid_api_key")


def test_a_key_that_is_not_ascii(serve):
    server = serve(api_key="schlüssel")
    wire = "Bearer " + "schlüssel".encode().decode("latin-1")
    assert server.client.get("/v1/models", environ_overrides={"HTTP_AUTHORIZATION": wire}).status_code == 200


@pytest.mark.parametrize("given", ["Bearer ", "Bearer  "])
def test_a_blank_key_opens_nothing(serve, given):
    assert serve(api_key=" ").client.get("/v1/models", headers={"Authorization": given}).status_code == 401


def test_no_key_is_needed_if_none_is_set(serve):
    assert serve(api_key="").client.get("/v1/models", headers={"Authorization": "Bearer any"}).status_code == 200


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


def test_every_reply_may_be_read_from_any_origin(serve):
    server = serve(["t</think>a"], api_key=KEY)
    key, origin = {"Authorization": f"Bearer {KEY}"}, {"Origin": "https://app.example"}
    preflight = origin | {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    replies = [
        server.client.options(CHAT, headers=preflight),
        server.client.post(CHAT, json=HI, headers=key | origin),
        server.client.post(CHAT, json=HI | {"stream": True}, headers=key | origin),
        server.client.post(CHAT, json=HI, headers=origin),
        server.client.get("/nope", headers=key | origin),
    ]
    assert [reply.status_code for reply in replies] == [200, 200, 200, 401, 404]
    assert {reply.headers["Access-Control-Allow-Origin"] for reply in replies} == {"*"}
    assert replies[0].headers["Access-Control-Allow-Headers"] == "authorization"


def test_named_origins_only(serve):
    client = serve(allowed_origins=("https://a.example", "https://b.example")).client
    for origin, allowed in [("https://b.example", "https://b.example"), ("https://c.example", None)]:
        response = client.get("/health", headers={"Origin": origin})
        assert response.headers.get("Access-Control-Allow-Origin") == allowed
