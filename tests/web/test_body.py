"""Bodies in and out."""

import json

import pytest
from flask import Flask
from werkzeug.exceptions import HTTPException

from maple.errors import InvalidRequest
from maple.web import body as body_module
from maple.web.body import json_response, read_object


def read(body: bytes, **options) -> dict:
    with Flask("test").test_request_context("/", method="POST", data=body, **options):
        return read_object()


@pytest.mark.parametrize(
    "content_type", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]
)
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "byte-order-mark"])
def test_an_object_is_read_whatever_its_content_type(content_type, mark):
    assert read(mark + b' {"a": "\xc3\xa9"}\n', content_type=content_type) == {"a": "é"}


@pytest.mark.parametrize(
    ("body", "param", "message"),
    [
        (b"", None, "the body is empty"),
        (b" \r\n", None, "the body is empty"),
        (b"{bad", None, "line 1, column 2"),
        (b"[1]", None, "must be a JSON object"),
        (b'"x"', None, "must be a JSON object"),
        (b"null", None, "must be a JSON object"),
        (b"5", None, "must be a JSON object"),
        (b'{"a":"\xff"}', None, "UTF-8"),
        (b'{"temperature":NaN}', None, "NaN"),
        (b'{"user":"\\ud83d"}', "user", "surrogate"),
        (b'{"a":' + b"9" * 5000 + b"}", None, "too long"),
        (b'{"x":' + b"[" * 20_000 + b"]" * 20_000 + b"}", None, "nested"),
        (b'{"x":' + b'{"y":' * 400 + b"1" + b"}" * 401, "x", "nested"),
    ],
    ids=lambda value: f"{value!r:.30}",
)
def test_unusable_bodies(body, param, message):
    with pytest.raises(InvalidRequest, match=message) as caught:
        read(body)
    assert caught.value.param == param


@pytest.mark.parametrize(
    ("encoding", "is_taken"), [("", True), ("identity", True), ("Identity", True), ("gzip", False), ("br", False)]
)
def test_compressed_bodies_are_a_415(encoding, is_taken):
    headers = {"Content-Encoding": encoding}
    if is_taken:
        assert read(b"{}", headers=headers) == {}
        return
    with pytest.raises(HTTPException) as caught:
        read(b"{}", headers=headers)
    assert caught.value.code == 415


def test_a_reply_is_one_line_of_json():
    response = json_response({"b": "é\n", "a": None}, 503)
    assert (response.status_code, response.content_type) == (503, "application/json")
    assert response.data == '{"b": "é\\n", "a": null}\n'.encode()
    assert json_response({}).status_code == 200


def test_a_reply_never_holds_what_is_no_json():
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_response(json.loads('{"a": NaN}'))


@pytest.mark.parametrize(
    "values", [b"[" + b"[]," * 9 + b"[]]", b'{"a":{"b":{"c":{"d":{"e":1}}}}}', b"[" + b"1," * 9 + b"1]"]
)
def test_more_values_than_memory_is_meant_for_are_refused_unread(monkeypatch, values):
    body = b'{"user":' + values + b"}"
    num_marks = sum(body.count(mark) for mark in (b"[", b"{", b",", b":"))
    monkeypatch.setattr(body_module, "MOST_VALUES", num_marks)
    assert list(read(body)) == ["user"]
    monkeypatch.setattr(body_module, "MOST_VALUES", num_marks - 1)
    with pytest.raises(InvalidRequest, match="too many values"):
        read(body)
