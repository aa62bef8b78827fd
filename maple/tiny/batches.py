"""Conversations packed into rows of equal length; batch n of a seed is always the same."""

from __future__ import annotations

from random import Random

import torch
from torch.utils.data import Dataset
from transformers import PreTrainedTokenizerFast

from maple.tiny.forward import Batch
from maple.tiny.text import Sample, make_sample
from maple.tiny.tokenizer import prompt_text

# Most batches have many short rows; one in LONG_EVERY holds conversations far past the window.
SHORT, LONG, LONG_EVERY = (24, 256), (8, 768), 6
LATE_FROM = 4300  # the step from which the mixture is the late one


def encode(tokenizer: PreTrainedTokenizerFast, sample: Sample) -> tuple[list[int], list[int]]:
    """Ids of the prompt, and of the turn to learn with its end."""
    backend = tokenizer.backend_tokenizer
    prompt = backend.encode(prompt_text(tokenizer, sample)).ids
    target = backend.encode(sample.target()).ids
    return prompt, [*target, tokenizer.eos_token_id]


class Batches(Dataset):
    """All batches of a run, made when asked for."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast, seed: int, first: int, last: int):
        self.tokenizer, self.seed, self.first, self.last = tokenizer, seed, first, last

    def __len__(self) -> int:
        return self.last - self.first

    def __getitem__(self, index: int) -> Batch:
        step = self.first + index
        is_long = step % LONG_EVERY == LONG_EVERY - 1
        rows, length = LONG if is_long else SHORT
        rng = Random(f"{self.seed}/{step}")
        filled: list[list[tuple[list[int], list[int]]]] = [[] for _ in range(rows)]
        room = [length] * rows
        misses = 0
        while misses < 8:
            prompt, target = encode(
                self.tokenizer, make_sample(rng, history=0.6 if is_long else 0.1, late=step >= LATE_FROM)
            )
            need = len(prompt) + len(target)
            # The fullest row that still has room.
            row = min((r for r in range(rows) if room[r] >= need), key=room.__getitem__, default=None)
            if row is None:
                misses += 1
                continue
            filled[row].append((prompt, target))
            room[row] -= need
        return _rows_to_batch(filled, length, self.tokenizer.pad_token_id)


def _rows_to_batch(filled: list, length: int, padding: int) -> Batch:
    ids = torch.full((len(filled), length), padding)
    documents = torch.zeros_like(ids)
    is_target = torch.zeros_like(ids, dtype=torch.bool)
    for row, conversations in enumerate(filled):
        place = 0
        for number, (prompt, target) in enumerate(conversations, 1):
            end = place + len(prompt) + len(target)
            ids[row, place:end] = torch.tensor(prompt + target)
            documents[row, place:end] = number
            is_target[row, place + len(prompt) : end] = True
            place = end
    return Batch(ids, documents, is_target)
