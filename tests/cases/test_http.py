"""Section H: HTTP and bodies."""

import json

import pytest

from tests.application import CHAT, COMPLETIONS, HI, error_of, serving, strictly
from tests.cases.asking import PROMPT, ask, refused

GOOD = json.dumps(HI).encode()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" \n",
        b"{bad",
        b"[1]",
        b'"x"',
        b"null",
        b"5",
        b"true",
        b'{"a":"\xff"}',
        b"\x00",
        b"{}{}",
        b"{'a':1}",
        GOOD + b"x",
        b"\xff\xfe\xff",
    ],
    ids=lambda body: f"C53-{body!r}",
)
@pytest.mark.parametrize("path", [CHAT, COMPLETIONS])
@pytest.mark.parametrize("content_type", ["application/json", None, "text/plain"])
def test_bodies_that_are_refused(client, body, path, content_type):
    refused(client, body, path, content_type=content_type)


@pytest.mark.parametrize(
    ("body", "statuses"),
    [
        pytest.param(b"\xef\xbb\xbf" + GOOD, {200, 400}, id="C53-bom"),
        pytest.param(json.dumps(HI).encode("utf-16"), {200, 400}, id="C53-utf-16"),
        pytest.param(json.dumps(HI).encode("utf-32-be"), {200, 400}, id="C53-utf-32"),
        pytest.param(GOOD[:-1] + b',"seed":1,"seed":2}', {200, 400}, id="C53-duplicate-keys"),
        pytest.param(GOOD[:-1] + b',"seed":%s}' % (b"9" * 5000), {400}, id="C53-long-number"),
        pytest.param(GOOD[:-1] + b',"x":%s}' % (b"9" * 5000), {400}, id="C53-long-number-in-an-ignored-field"),
        pytest.param(b" \r\n\t" + GOOD + b"\n", {200}, id="C53-blanks-around"),
    ],
)
def test_odd_bodies(client, body, statuses):
    response = client.post(CHAT, data=body)
    assert response.status_code in statuses
    if response.status_code == 400:
        error_of(response, 400)


@pytest.mark.parametrize(
    "content_type",
    [None, "text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-8", "multipart/form-data"],
    ids=lambda value: f"C53-{value}",
)
@pytest.mark.parametrize(("path", "body"), [(CHAT, GOOD), (COMPLETIONS, json.dumps(PROMPT).encode())])
def test_d9_any_content_type_is_taken(client, path, body, content_type):
    assert client.post(path, data=body, content_type=content_type).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", CHAT, 405),
        ("PUT", CHAT, 405),
        ("GET", COMPLETIONS, 405),
        ("POST", "/health", 405),
        ("DELETE", "/v1/models", 405),
        ("POST", "/v1/models/maple-preview", 405),
        ("GET", "/nope", 404),
        ("POST", "/nope", 404),
        ("GET", "/", 404),
        ("GET", "/v1", 404),
        ("POST", "/v1/embeddings", 404),
        ("GET", "/v1/models/other", 404),
        ("GET", "/v1/models/a/b", 404),
        ("GET", "/v1/models/a%2Fb", 404),
        ("GET", "/v1/chat/completions/x", 404),
        ("GET", "/static/x", 404),
        ("GET", "/%ff", 404),
    ],
    ids=lambda value: f"C54-{value}",
)
def test_errors_of_routing_have_the_shape(client, method, path, status):
    response = client.open(path, method=method)
    error = error_of(response, status)
    assert error["type"] == "invalid_request_error"
    if status == 405:
        assert "Allow" in response.headers


@pytest.mark.parametrize("path", [CHAT + "/", "/" + CHAT, "//v1//chat/completions", COMPLETIONS + "/"])
def test_c54_odd_slashes_are_served_or_a_404_and_never_a_redirect(client, path):
    response = client.post(path, json=HI | PROMPT)
    assert response.status_code in (200, 404)
    if response.status_code == 404:
        error_of(response, 404)


@pytest.mark.parametrize("path", ["/health", "/health/live", "/v1/models", "/v1/models/maple-preview", "/v1/models/"])
def test_c54_get_routes_answer_get_and_head(client, path):
    response = client.get(path)
    assert (response.status_code, response.mimetype) == (200, "application/json")
    head = client.head(path)
    assert (head.status_code, head.data) == (200, b"")


def test_c54_the_models():
    with serving(model_id="org/maple") as served:
        (model,) = served.client.get("/v1/models").json["data"]
        assert (model["id"], model["object"], model["owned_by"]) == ("org/maple", "model", "deepgrove")
        assert isinstance(model["created"], int)
        for path in ("/v1/models/org/maple", "/v1/models/org%2Fmaple"):
            assert served.client.get(path).json == model


@pytest.mark.parametrize("over", [0, 1], ids=["C54-at-the-cap", "C54-over-the-cap"])
@pytest.mark.parametrize("path", [CHAT, COMPLETIONS])
def test_the_body_limit(over, path):
    with serving(max_body_mb=0.001) as served:
        body = json.dumps(HI | PROMPT).encode()
        body += b" " * (1048 - len(body) + over)
        response = served.client.post(path, data=body)
        if over:
            assert error_of(response, 413)["type"] == "invalid_request_error"
        else:
            assert response.status_code == 200


def test_c54_a_body_without_a_length(client):
    """As WSGI servers hand over what came in chunks."""
    for environ in ({"wsgi.input_terminated": True}, {}):
        response = client.post(
            CHAT,
            data=GOOD,
            headers={"Transfer-Encoding": "chunked"},
            environ_overrides=environ | {"CONTENT_LENGTH": ""},
        )
        assert response.status_code in (200, 400)
        assert "choices" in strictly(response.text) or error_of(response, 400)


DEEP = [
    pytest.param("[" * 20_000 + "]" * 20_000, id="C55-arrays"),
    pytest.param('{"a":' * 1100 + "1" + "}" * 1100, id="C55-objects"),
    pytest.param("[" * 100_000, id="C55-unclosed"),
]


@pytest.mark.parametrize("value", DEEP)
@pytest.mark.parametrize(
    "frame",
    [
        "%s",
        '{"x":%s}',
        '{"messages":[{"role":"user","content":"hi"}],"metadata":%s}',
        '{"messages":[{"role":"user","content":%s}]}',
        '{"prompt":%s}',
    ],
)
@pytest.mark.parametrize("path", [CHAT, COMPLETIONS])
def test_c55_deep_nesting(client, value, frame, path):
    refused(client, (frame % value).encode(), path)
    assert client.get("/health").status_code == 200


@pytest.mark.parametrize("depth", [400, 900])
@pytest.mark.parametrize("form", [("[", "]"), ('{"a":', "}")], ids=["arrays", "objects"])
def test_c55_deep_nesting_that_json_itself_can_read(client, depth, form):
    value = form[0] * depth + "1" + form[1] * depth
    nested = f'{{"p":{value}}}'
    tool = f'{{"type":"function","function":{{"name":"f","parameters":{nested}}}}}'
    call = f'{{"function":{{"name":"f","arguments":{nested}}}}}'
    spelled = json.dumps(nested)
    for body in (
        f'{{"messages":[{{"role":"user","content":"hi"}}],"tools":[{tool}]}}',
        f'{{"messages":[{{"role":"user","content":"hi"}}],"chat_template_kwargs":{nested}}}',
        f'{{"messages":[{{"role":"assistant","tool_calls":[{call}]}}]}}',
        f'{{"messages":[{{"role":"assistant","tool_calls":[{{"function":{{"name":"f","arguments":{spelled}}}}}]}}]}}',
    ):
        refused(client, body.encode())


def test_c55_moderate_nesting_is_served(client):
    value: dict = {}
    for _ in range(40):
        value = {"a": [value]}
    tool = {"type": "function", "function": {"name": "f", "parameters": value}}
    assert ask(client, HI | {"tools": [tool]}).content == "ok"
