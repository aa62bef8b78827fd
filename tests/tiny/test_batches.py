import pytest
import torch

from maple.tiny.batches import LONG, LONG_EVERY, SHORT, Batches
from maple.tiny.tokenizer import build_tokenizer


@pytest.fixture(scope="module")
def batches():
    return Batches(build_tokenizer(samples=300), seed=0, first=0, last=LONG_EVERY)


def test_a_batch_depends_on_seed_and_number_alone(batches):
    again = Batches(batches.tokenizer, seed=0, first=1, last=2)[0]

    assert torch.equal(batches[1].ids, again.ids)


def test_some_batches_are_long(batches):
    assert batches[0].ids.shape == SHORT
    assert batches[LONG_EVERY - 1].ids.shape == LONG


def test_each_turn_to_learn_ends_itself(batches):
    batch, end = batches[0], batches.tokenizer.eos_token_id
    for ids, documents, is_target in zip(batch.ids, batch.documents, batch.is_target, strict=True):
        for number in range(1, int(documents.max()) + 1):
            turn = ids[(documents == number) & is_target]
            assert turn[-1] == end
            assert (turn == end).sum() == 1


def test_rows_are_nearly_full(batches):
    assert (batches[0].documents > 0).float().mean() > 0.85
