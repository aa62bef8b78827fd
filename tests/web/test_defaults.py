"""How requests and settings meet."""

import pytest

from maple.settings import Settings
from maple.web.defaults import generation_request
from schemas.generation import GenerationOptions

SETTINGS = Settings(max_new_tokens=50, max_new_tokens_limit=100, temperature=0.5, top_p=0.75, top_k=7)


def test_what_a_request_leaves_open_comes_from_the_settings():
    request = generation_request(GenerationOptions(), (1, 2), SETTINGS)
    sampling = request.sampling
    assert (request.prompt_ids, request.max_new_tokens, request.stop) == ((1, 2), 50, ())
    assert (sampling.temperature, sampling.top_p, sampling.top_k) == (0.5, 0.75, 7)
    assert (sampling.repetition_penalty, sampling.seed) == (1.0, None)


def test_what_a_request_says_counts_zeros_included():
    options = GenerationOptions(
        max_tokens=3, temperature=0.0, top_p=1.0, top_k=0, repetition_penalty=1.5, seed=0, stop=("x",)
    )
    request = generation_request(options, (1,), SETTINGS)
    sampling = request.sampling
    assert (request.max_new_tokens, request.stop) == (3, ("x",))
    assert (sampling.temperature, sampling.top_p, sampling.top_k) == (0.0, 1.0, 0)
    assert (sampling.repetition_penalty, sampling.seed) == (1.5, 0)


def test_top_k_minus_one_is_off():
    assert generation_request(GenerationOptions(top_k=-1), (1,), SETTINGS).sampling.top_k == 0


@pytest.mark.parametrize("max_tokens", [100, 101, 10**400])
def test_the_cap(max_tokens):
    assert generation_request(GenerationOptions(max_tokens=max_tokens), (1,), SETTINGS).max_new_tokens == 100


def test_the_default_is_capped_too():
    settings = Settings(max_new_tokens=500, max_new_tokens_limit=100)
    assert generation_request(GenerationOptions(), (1,), settings).max_new_tokens == 100
