"""The fields both routes share."""

import dataclasses
import logging

import pytest

from maple.errors import InvalidRequest
from schemas.generation import GenerationOptions, GenerationSchema


class PlainSchema(GenerationSchema):
    request_class = GenerationOptions
    refused = {"n": 1, "echo": False}  # noqa: RUF012 - never changed


def parse(**fields) -> GenerationOptions:
    return PlainSchema().parse(fields)


def test_what_is_not_given_is_none_or_nothing():
    names = [field.name for field in dataclasses.fields(GenerationOptions)]
    nothing = dict.fromkeys(names) | {"stop": (), "stream": False, "include_usage": False}
    assert dataclasses.asdict(parse()) == nothing
    assert parse(**dict.fromkeys([*names, "max_completion_tokens", "stream_options", "n", "echo"])) == parse()


@pytest.mark.parametrize(
    ("fields", "name", "value"),
    [
        ({"model": "m" * 256}, "model", "m" * 256),
        ({"max_tokens": 1}, "max_tokens", 1),
        ({"max_tokens": 10**30}, "max_tokens", 10**30),
        ({"max_tokens": 9, "max_completion_tokens": 3}, "max_tokens", 3),
        ({"max_tokens": 3, "max_completion_tokens": 9}, "max_tokens", 9),
        ({"max_tokens": 3, "max_completion_tokens": None}, "max_tokens", 3),
        ({"max_tokens": None, "max_completion_tokens": 3}, "max_tokens", 3),
        ({"temperature": 0}, "temperature", 0.0),
        ({"temperature": 2}, "temperature", 2.0),
        ({"top_p": 1}, "top_p", 1.0),
        ({"top_k": -1}, "top_k", -1),
        ({"top_k": 2**31 - 1}, "top_k", 2**31 - 1),
        ({"repetition_penalty": 1e-9}, "repetition_penalty", 1e-9),
        ({"seed": -(2**63)}, "seed", -(2**63)),
        ({"seed": 2**64 - 1}, "seed", 2**64 - 1),
        ({"stop": "x"}, "stop", ("x",)),
        ({"stream": True}, "stream", True),
        ({"stream": True, "stream_options": {"include_usage": True}}, "include_usage", True),
        ({"stream": True, "stream_options": {"include_usage": None}}, "include_usage", False),
        ({"stream_options": {"include_usage": True}}, "include_usage", False),
        ({"stream": False, "stream_options": 5}, "include_usage", False),
        ({"n": 1, "echo": False}, "stream", False),
    ],
)
def test_taken(fields, name, value):
    assert getattr(parse(**fields), name) == value


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"model": "m" * 257}, "model"),
        ({"model": 5}, "model"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": 0, "max_completion_tokens": 3}, "max_tokens"),
        ({"max_completion_tokens": -1, "max_tokens": 3}, "max_completion_tokens"),
        ({"temperature": 2.1}, "temperature"),
        ({"temperature": -0.1}, "temperature"),
        ({"top_p": 0}, "top_p"),
        ({"top_p": 1.1}, "top_p"),
        ({"top_k": -2}, "top_k"),
        ({"top_k": 2**31}, "top_k"),
        ({"repetition_penalty": 0}, "repetition_penalty"),
        ({"seed": 2**64}, "seed"),
        ({"seed": -(2**63) - 1}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"stop": [""]}, "stop"),
        ({"stream": "true"}, "stream"),
        ({"stream": True, "stream_options": 5}, "stream_options"),
        ({"stream": True, "stream_options": {"include_usage": 1}}, "stream_options.include_usage"),
        ({"n": 2}, "n"),
        ({"n": True}, "n"),
        ({"n": 1.0}, "n"),
        ({"echo": 0}, "echo"),
    ],
)
def test_refused(fields, param):
    with pytest.raises(InvalidRequest) as caught:
        parse(**fields)
    assert caught.value.param == param
    assert caught.value.message.startswith(f"{param} ")


def test_other_fields_are_ignored_and_only_unknown_ones_logged(caplog):
    with caplog.at_level(logging.DEBUG, "schemas.generation"):
        assert parse(presence_penalty=10**400, frequency_penalty="x", user=[], n=1) == parse()
        assert caplog.text == ""
        assert parse(logit_bias={"1": 2}, store=True) == parse()
    assert "['logit_bias', 'store']" in caplog.text
