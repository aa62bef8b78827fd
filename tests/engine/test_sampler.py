import math

import pytest
import torch
from transformers import LogitsProcessorList
from transformers.generation import logits_process as processors

from maple.engine.requests import SamplingParams
from maple.engine.sampler import Sampler

SIZE = 60
PROMPT = (3, 7, 7, 11, 59)


def params(temperature=1.0, top_p=1.0, top_k=0, repetition_penalty=1.0, seed=0):
    return SamplingParams(temperature, top_p, top_k, repetition_penalty, seed)


def random_logits(seed, ties=False):
    logits = torch.randn(SIZE, generator=torch.Generator().manual_seed(seed)) * 4
    return logits.round() if ties else logits


def transformers_distribution(logits, p, seen):
    """What generate() would draw from: probabilities [vocab]."""
    chain = LogitsProcessorList()
    if p.repetition_penalty != 1:
        chain.append(processors.RepetitionPenaltyLogitsProcessor(p.repetition_penalty))
    if p.temperature != 1:
        chain.append(processors.TemperatureLogitsWarper(p.temperature))
    if p.top_k > 0:
        chain.append(processors.TopKLogitsWarper(p.top_k))
    if p.top_p < 1:
        chain.append(processors.TopPLogitsWarper(p.top_p))
    return chain(torch.tensor([seen]), logits.clone().unsqueeze(0))[0].softmax(-1)


def our_distribution(logits, p, seen):
    sampler = Sampler(p, seen, len(logits), "cpu")
    candidates, probabilities = sampler.distribution(sampler._penalised(logits))
    assert len(set(candidates.tolist())) == len(candidates)
    assert (probabilities.diff() <= 0).all()
    return torch.zeros(len(logits)).index_put((candidates,), probabilities)


PARAMETERS = [
    params(),
    params(temperature=0.6, top_p=0.95, top_k=20),
    params(temperature=2.0, top_p=0.5),
    params(temperature=0.3, top_k=5),
    params(temperature=1.5, top_k=1),
    params(top_k=SIZE),
    params(top_k=SIZE + 1, top_p=0.9),
    params(top_k=1_000_000),
    params(top_p=1e-9),
    params(top_p=0.999999),
    params(temperature=1e-4, top_p=0.9),
    params(repetition_penalty=1.3),
    params(repetition_penalty=0.5, top_k=10, top_p=0.8),
    params(temperature=0.8, top_p=0.7, top_k=15, repetition_penalty=5.0),
    params(repetition_penalty=1e-9),
    params(repetition_penalty=1e9),
]


@pytest.mark.parametrize("p", PARAMETERS, ids=str)
def test_the_distribution_is_that_of_transformers(p):
    for seed in range(40):
        logits = random_logits(seed)
        torch.testing.assert_close(our_distribution(logits, p, PROMPT), transformers_distribution(logits, p, PROMPT))


@pytest.mark.parametrize("p", PARAMETERS, ids=str)
def test_with_ties_as_many_candidates_are_as_probable(p):
    """Which of several equal tokens the nucleus cuts off is a matter of sorting; how many is not."""
    for seed in range(40):
        logits = random_logits(seed, ties=True)
        ours, theirs = our_distribution(logits, p, PROMPT), transformers_distribution(logits, p, PROMPT)
        torch.testing.assert_close(ours.sort().values, theirs.sort().values)


def test_ties_with_the_last_of_the_top_k_stay():
    logits = torch.tensor([1.0, 5.0, 5.0, 5.0, 7.0, 0.0])
    kept = our_distribution(logits, params(top_k=2), (0,)).nonzero().flatten().tolist()
    assert kept == [1, 2, 3, 4]


def test_the_first_over_the_nucleus_is_kept():
    """Probabilities .5 .25 .125 .125: a nucleus of .6 needs two tokens."""
    logits = torch.tensor([0.5, 0.25, 0.125, 0.125]).log()
    assert our_distribution(logits, params(top_p=0.6), (0,)).tolist() == pytest.approx([2 / 3, 1 / 3, 0, 0])
    assert our_distribution(logits, params(top_p=0.76), (0,)).nonzero().numel() == 3


def test_what_was_drawn_counts_as_seen():
    sampler = Sampler(params(temperature=0, repetition_penalty=2.0), (0,), 4, "cpu")
    logits = torch.tensor([3.0, 2.5, 2.0, -1.0])
    assert [sampler.sample(logits) for _ in range(4)] == [1, 2, 0, 0]


def test_a_negative_logit_is_penalised_downwards():
    sampler = Sampler(params(temperature=0, repetition_penalty=2.0), (0,), 2, "cpu")
    assert sampler.sample(torch.tensor([-1.0, -1.5])) == 1


def test_a_prompt_token_counts_once_however_often_it_occurs():
    once, often = (our_distribution(random_logits(1), params(repetition_penalty=1.5), ids) for ids in ((3,), (3,) * 9))
    assert torch.equal(once, often)


@pytest.mark.parametrize("temperature", [0, 1e-45, 1e-9, 9.9e-6])
def test_below_the_limit_it_is_greedy(temperature):
    for seed in range(20):
        logits = random_logits(seed)
        assert Sampler(params(temperature, seed=seed), PROMPT, SIZE, "cpu").sample(logits) == int(logits.argmax())


@pytest.mark.parametrize(
    "p",
    [
        params(temperature=1e-5),
        params(temperature=2),
        params(top_k=1),
        params(top_p=1e-9),
        params(top_p=1e-300),
        params(temperature=1e-5, repetition_penalty=1e-9),
        params(temperature=2, repetition_penalty=1e9),
        params(temperature=1e-5, repetition_penalty=1e-300),
        params(temperature=1e-5, repetition_penalty=1e300),
    ],
    ids=str,
)
def test_edge_values_draw_a_token(p):
    sampler = Sampler(p, PROMPT, SIZE, "cpu")
    for seed in range(10):
        assert 0 <= sampler.sample(random_logits(seed)) < SIZE


def test_half_precision_logits_are_computed_in_float32():
    logits = random_logits(5).bfloat16()
    ours = Sampler(params(temperature=0.7, top_p=0.9), PROMPT, SIZE, "cpu")
    reference = Sampler(params(temperature=0.7, top_p=0.9), PROMPT, SIZE, "cpu")
    assert [ours.sample(logits) for _ in range(20)] == [reference.sample(logits.float()) for _ in range(20)]


def draws(seed, count=30):
    sampler = Sampler(params(seed=seed), PROMPT, SIZE, "cpu")
    return [sampler.sample(torch.zeros(SIZE)) for _ in range(count)]


def test_the_seed_alone_decides():
    torch.manual_seed(1)
    first = draws(5)
    torch.manual_seed(2)
    torch.rand(10)
    assert draws(5) == first
    assert draws(6) != first


def test_without_a_seed_every_request_differs():
    assert draws(None) != draws(None)


def test_the_global_generator_is_left_alone():
    torch.manual_seed(3)
    expected = torch.rand(5)
    torch.manual_seed(3)
    draws(7)
    assert torch.equal(torch.rand(5), expected)


def test_draws_follow_the_distribution():
    """A chi-squared test on 4,000 draws; the seed is fixed, so it either always passes or never."""
    logits = random_logits(9)
    p = params(temperature=0.9, top_k=8)
    probabilities = transformers_distribution(logits, p, PROMPT)
    sampler = Sampler(p, PROMPT, SIZE, "cpu")
    counts = torch.bincount(torch.tensor([sampler.sample(logits) for _ in range(4000)]), minlength=SIZE)
    likely = probabilities > 0
    assert counts[~likely].sum() == 0
    expected = probabilities[likely] * 4000
    chi_squared = ((counts[likely] - expected) ** 2 / expected).sum()
    freedom = int(likely.sum()) - 1
    assert chi_squared < freedom + 5 * math.sqrt(2 * freedom)


@pytest.mark.parametrize("temperature", [0, 1])
def test_logits_that_are_no_numbers_are_an_error(temperature):
    params = SamplingParams(temperature=temperature, top_p=1, top_k=0, repetition_penalty=1, seed=1)
    logits = torch.zeros(10)
    logits[3] = torch.nan
    with pytest.raises(ValueError, match="not numbers"):
        Sampler(params, [1], 10, "cpu").sample(logits)
