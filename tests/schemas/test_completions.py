"""Raw completion requests into dataclasses."""

import pytest

from maple.errors import InvalidRequest
from schemas.completions import CompletionSchema


def parse(**fields):
    return CompletionSchema().parse({"prompt": "hi"} | fields)


@pytest.mark.parametrize(
    ("prompt", "loaded"),
    [("a ", "a "), (["a"], "a"), ([1, 2], (1, 2)), ([[1, 2]], (1, 2)), ([-1], (-1,)), ([2**70], (2**70,))],
)
def test_prompts(prompt, loaded):
    assert parse(prompt=prompt).prompt == loaded


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        [],
        [""],
        [[]],
        ["a", "b"],
        [[1], [2]],
        [1, "a"],
        ["a", 1],
        [True],
        [1.0],
        [[1.0]],
        [None],
        {},
        5,
        None,
        [[["a"]]],
    ],
)
def test_prompts_that_are_none(prompt):
    with pytest.raises(InvalidRequest) as caught:
        parse(prompt=prompt)
    assert caught.value.param == "prompt"


def test_nulls_and_what_asks_for_nothing():
    assert parse(echo=None, suffix=None, logprobs=None, best_of=None, n=None) == parse()
    assert parse(echo=False, suffix="", logprobs=False, best_of=1, n=1) == parse()


@pytest.mark.parametrize(
    ("name", "value"),
    [("echo", True), ("suffix", "x"), ("logprobs", 0), ("logprobs", 5), ("logprobs", True), ("best_of", 2), ("n", 2)],
)
def test_refused(name, value):
    with pytest.raises(InvalidRequest) as caught:
        parse(**{name: value})
    assert caught.value.param == name
