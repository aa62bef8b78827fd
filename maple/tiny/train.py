"""Makes the tiny model again from nothing: `python -m maple.tiny.train`."""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.utils.data import DataLoader
from tqdm import tqdm
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from maple.model import MapleConfig, MapleForCausalLM
from maple.tiny import MODEL_PATH
from maple.tiny.batches import Batches
from maple.tiny.export import export
from maple.tiny.forward import BALANCE, TrainingForward, attention_biases, loss_of
from maple.tiny.muon import Muon
from maple.tiny.ternary import is_ternary
from maple.tiny.tokenizer import build_tokenizer

STATE = Path(__file__).parent / "state"
SAVE_EVERY = 100


@dataclass(frozen=True)
class Recipe:
    """All that decides the result; the defaults made the shipped model."""

    seed: int = 0
    steps: int = 5800
    rate: float = 2e-3
    warmup: int = 200
    decay_from: float = 0.5  # the part of the run after which the rate falls to zero
    weight_decay: float = 0.05

    def rate_at(self, step: int) -> float:
        """Learning rate: a short rise, a plateau, a fall that is steep at first."""
        start = self.steps * self.decay_from
        gone = max(0.0, (step - start) / (self.steps - start))
        return self.rate * min((step + 1) / self.warmup, 1 - gone**0.5)


def make_config(vocab_size: int) -> MapleConfig:
    """The real architecture at its smallest useful size."""
    return MapleConfig(
        vocab_size=vocab_size,
        hidden_size=256,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=64,
        num_experts=4,
        num_experts_per_tok=2,
        moe_intermediate_size=256,
        sliding_window=128,
        max_position_embeddings=4096,
        bos_token_id=None,
        pad_token_id=None,
        eos_token_id=None,
    )


class Trainer:
    """Weights, optimizer and progress; its state goes to one file and back."""

    def __init__(self, recipe: Recipe, state: Path):
        self.recipe, self.state, self.step, self.seconds = recipe, state, 0, 0.0
        self.tokenizer = self._tokenizer()
        torch.manual_seed(recipe.seed)
        self.model = MapleForCausalLM(make_config(len(self.tokenizer)))
        self.weights = dict(self.model.named_parameters())
        matrices = [weight for name, weight in self.weights.items() if is_ternary(name)]
        others = [weight for name, weight in self.weights.items() if not is_ternary(name)]
        self.optimizers = (
            Muon(matrices, recipe.rate, weight_decay=recipe.weight_decay),
            torch.optim.AdamW(others, recipe.rate, betas=(0.9, 0.98), weight_decay=0.0, fused=True),
        )
        self.forward = torch.compile(TrainingForward(self.model.config), dynamic=False)
        if (state / "state.pt").exists():
            self._load()

    def _tokenizer(self) -> PreTrainedTokenizerFast:
        """The tokenizer of the run, made when the run begins."""
        if not (self.state / "tokenizer.json").exists():
            build_tokenizer(self.recipe.seed).save_pretrained(self.state)
        return AutoTokenizer.from_pretrained(self.state)

    def _load(self):
        saved = torch.load(self.state / "state.pt")
        self.model.load_state_dict(saved["model"])
        for optimizer, values in zip(self.optimizers, saved["optimizers"], strict=True):
            optimizer.load_state_dict(values)
        self.step, self.seconds = saved["step"], saved["seconds"]

    def save(self):
        """Writes the state beside the old one, then takes its place."""
        self.state.mkdir(parents=True, exist_ok=True)
        progress = {"step": self.step, "seconds": self.seconds}
        optimizers = [optimizer.state_dict() for optimizer in self.optimizers]
        values = {"model": self.model.state_dict(), "optimizers": optimizers}
        torch.save({**progress, **values}, self.state / "state.tmp")
        os.replace(self.state / "state.tmp", self.state / "state.pt")

    def learn(self, batch) -> float:
        """One step; returns the loss."""
        for optimizer in self.optimizers:
            optimizer.param_groups[0]["lr"] = self.recipe.rate_at(self.step)
        biases = attention_biases(batch.documents, self.model.config.sliding_window)
        hidden, balance = self.forward(self.weights, batch.ids, biases)
        loss = loss_of(hidden, self.weights["lm_head.weight"], batch)
        (loss + BALANCE * balance).backward()
        torch.nn.utils.clip_grad_norm_(self.weights.values(), 1.0)
        for optimizer in self.optimizers:
            optimizer.step()
            optimizer.zero_grad()
        self.step += 1
        return loss.item()

    def run(self):
        """Trains to the end, saving on the way."""
        batches = Batches(self.tokenizer, self.recipe.seed, self.step, self.recipe.steps)
        loader = DataLoader(batches, batch_size=None, num_workers=1, prefetch_factor=8)
        bar = tqdm(loader, initial=self.step, total=self.recipe.steps, smoothing=0.02, mininterval=2)
        self.state.mkdir(parents=True, exist_ok=True)
        with (self.state / "loss.csv").open("a", buffering=1) as log:
            for batch in bar:
                start = time.monotonic()
                loss = self.learn(batch)
                self.seconds += time.monotonic() - start
                bar.set_postfix(loss=f"{loss:.4f}", refresh=False)
                log.write(f"{self.step},{loss:.5f},{self.seconds:.1f}\n")
                if self.step % SAVE_EVERY == 0:
                    self.save()
        self.save()


def main():
    """Trains (or goes on from the saved state) and writes the model's files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--state", type=Path, default=STATE, help="where the run keeps its state")
    parser.add_argument("--output", type=Path, default=MODEL_PATH, help="where the model goes")
    parser.add_argument("--steps", type=int, default=Recipe.steps)
    parser.add_argument("--rate", type=float, default=Recipe.rate)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    trainer = Trainer(Recipe(steps=options.steps, rate=options.rate), options.state)
    trainer.run()
    export(trainer.model, trainer.tokenizer, options.output)


if __name__ == "__main__":
    main()
