"""Section I: access, and CORS."""

import pytest

from tests.application import CHAT, COMPLETIONS, HI, error_of, serving
from tests.cases.asking import PROMPT

KEY = "s3cret-Key"


@pytest.fixture(scope="module")
def client():
    with serving(api_key=KEY) as served:
        yield served.client


def headers(authorization):
    return {} if authorization is None else {"Authorization": authorization}


def check_refused(response):
    error = error_of(response, 401)
    assert (error["type"], error["code"]) == ("invalid_request_error", "invalid_api_key")
    assert response.headers["WWW-Authenticate"] == "Bearer"
    assert KEY not in response.text


@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer x",
        "Bearer caf\xe9",
        "Bearer \xff\xfe",
        f"Basic {KEY}",
        KEY,
        f"Bearer {KEY}x",
        f"Bearer {KEY[:-1]}",
        f"Bearer {KEY.lower()}",
        f"Bearer {KEY} {KEY}",
        f"Bearer{KEY}",
        f'Bearer "{KEY}"',
        "Bearer " + "x" * 10_000,
    ],
    ids=lambda value: f"C57-{value!r:.30}",
)
@pytest.mark.parametrize("stream", [False, True])
def test_what_is_not_the_key(client, authorization, stream):
    check_refused(client.post(CHAT, json=HI | {"stream": stream}, headers=headers(authorization)))
    check_refused(client.post(COMPLETIONS, json=PROMPT | {"stream": stream}, headers=headers(authorization)))


@pytest.mark.parametrize(
    "authorization",
    [f"Bearer {KEY}", f"bearer {KEY}", f"BEARER {KEY}", f"Bearer  {KEY}", f"Bearer {KEY} "],
    ids=lambda value: f"C57-{value!r}",
)
def test_the_key(client, authorization):
    assert client.post(CHAT, json=HI, headers=headers(authorization)).status_code == 200


@pytest.mark.parametrize("path", ["/health", "/health/live"])
def test_c57_probes_need_no_key(client, path):
    assert client.get(path).status_code == 200
    assert client.get(path, headers=headers("Bearer x")).status_code == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/models"),
        ("GET", "/v1/models/maple-preview"),
        ("GET", "/v1/models/other"),
        ("GET", "/nope"),
        ("GET", CHAT),
        ("DELETE", "/v1/models"),
        ("POST", CHAT + "/x"),
        ("GET", "/health/other"),
        ("GET", "/"),
        ("HEAD", "/v1/models"),
    ],
)
def test_c57_everything_else_is_closed_whether_it_is_there_or_not(client, method, path):
    response = client.open(path, method=method)
    assert response.status_code == 401
    if method != "HEAD":
        check_refused(response)


def test_c57_a_bad_body_without_the_key_is_a_401(client):
    check_refused(client.post(CHAT, data=b"{bad"))


@pytest.mark.parametrize("authorization", [None, "Bearer ", "Bearer x", "Bearer caf\xe9", "Basic x"])
def test_c57_an_empty_key_is_no_key(authorization):
    with serving(api_key="") as served:
        assert served.client.post(CHAT, json=HI, headers=headers(authorization)).status_code == 200


@pytest.mark.parametrize("authorization", [None, "Bearer", "Bearer ", "Bearer  "])
def test_c57_a_blank_key_admits_nobody(authorization):
    with serving(api_key=" ") as served:
        check_refused(served.client.post(CHAT, json=HI, headers=headers(authorization)))


@pytest.mark.parametrize(
    ("authorization", "status"),
    [
        ("Bearer caf\xc3\xa9", 200),  # UTF-8, as WSGI spells it
        ("Bearer caf\xe9", 401),
        ("Bearer cafe", 401),
        ("Bearer caf", 401),
        (None, 401),
    ],
)
def test_c57_a_configured_key_that_is_not_ascii(authorization, status):
    with serving(api_key="café") as served:
        assert served.client.post(CHAT, json=HI, headers=headers(authorization)).status_code == status


@pytest.mark.parametrize("path", [CHAT, COMPLETIONS, "/v1/models", "/nope"])
def test_d10_a_preflight_needs_no_key(client, path):
    response = client.options(
        path,
        headers={
            "Origin": "https://app.example",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization, content-type, x-stainless-lang",
        },
    )
    assert response.status_code in (200, 204, 404)
    if path != "/nope":
        assert response.status_code != 404
        allowed = response.headers["Access-Control-Allow-Headers"].lower()
        assert all(name in allowed for name in ("authorization", "content-type", "x-stainless-lang"))
        assert "POST" in response.headers["Access-Control-Allow-Methods"]
    assert response.headers["Access-Control-Allow-Origin"] == "*"


@pytest.mark.parametrize(
    ("origins", "origin", "allowed"),
    [
        (("*",), "https://a.example", "*"),
        (("https://a.example",), "https://a.example", "https://a.example"),
        (("https://a.example", "https://b.example"), "https://b.example", "https://b.example"),
        (("https://a.example",), "https://evil.example", None),
    ],
)
def test_d10_allow_headers_stand_on_success_error_and_stream_alike(origins, origin, allowed):
    with serving(allowed_origins=origins, api_key=KEY) as served:
        key = headers(f"Bearer {KEY}")
        replies = [
            served.client.post(CHAT, json=HI, headers=key | {"Origin": origin}),
            served.client.post(CHAT, json=HI | {"stream": True}, headers=key | {"Origin": origin}),
            served.client.post(CHAT, json={}, headers=key | {"Origin": origin}),
            served.client.post(CHAT, json=HI, headers={"Origin": origin}),
            served.client.get("/nope", headers=key | {"Origin": origin}),
        ]
        assert [reply.status_code for reply in replies] == [200, 200, 400, 401, 404]
        assert [reply.headers.get("Access-Control-Allow-Origin") for reply in replies] == [allowed] * 5
