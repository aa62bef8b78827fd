"""A checkpoint whose network speaks from a script, for the real engine: only the forward pass is fake.

Every piece of the script is one token, whatever its length. The network is stateless: which token comes next
follows from the last id it is fed alone, so any number of requests may be served from one script.
"""

import contextlib
import functools
import threading
import time
from collections.abc import Sequence
from types import SimpleNamespace

import torch
from transformers import PreTrainedTokenizerFast

from maple.checkpoints.loader import Checkpoint
from maple.checkpoints.tokenizer import MapleTokenizer
from maple.engine import Engine, GenerationRequest, SamplingParams
from maple.model import MapleConfig
from maple.settings import Settings
from tests.checkpoint_files import CHAT_TEMPLATE, VOCAB_SIZE, published_config, tiny_tokenizer, token_ids

END_ID = token_ids()["<|im_end|>"]
GATE_SECONDS = 20  # no test may hang
GREEDY = SamplingParams(temperature=0, top_p=1, top_k=0, repetition_penalty=1, seed=None)


class ScriptedModel:
    """Called as the generation loop calls a network; its logits leave the sampler one choice.

    ends: after the last piece comes the end of the turn, else the first piece again. Before token n (from 0, the
    prompt's pass) it sleeps `delay`, waits for gates[n], and raises if n is fails_at.
    """

    def __init__(self, pieces: Sequence, ends: bool, context_length: int, vocab_size: int):
        self.ids = range(vocab_size, vocab_size + len(pieces))
        self.ends = ends
        self.delay = 0.0
        self.gates: dict[int, threading.Event] = {}
        self.fails_at: int | None = None
        self.fed: list[list[int]] = []  # the ids of each sequence, prompt included
        self.config = MapleConfig(
            **published_config(max_position_embeddings=context_length, vocab_size=vocab_size + len(pieces))
        )
        self.model = SimpleNamespace(layers=[ScriptedLayer()])
        self._cache = None

    def __call__(self, ids, past_key_values, use_cache, logits_to_keep):
        self.model.layers[0].hook()
        last = int(ids[0, -1])
        number = self.ids.index(last) + 1 if last in self.ids else 0
        if past_key_values is not self._cache:
            self._cache = past_key_values
            self.fed.append([])
        self.fed[-1] += ids[0].tolist()
        time.sleep(self.delay)
        if number in self.gates:
            assert self.gates[number].wait(GATE_SECONDS)
        if number == self.fails_at:
            raise RuntimeError("no such kernel in secret.py")
        logits = torch.zeros(1, 1, self.config.vocab_size)
        logits[0, 0, self._following(number)] = 1e4
        return SimpleNamespace(logits=logits)

    def _following(self, number: int) -> int:
        if number < len(self.ids):
            return self.ids[number]
        return END_ID if self.ends else self.ids[0]


class ScriptedLayer:
    """Takes the hook that the generation loop hangs before each layer."""

    def register_forward_pre_hook(self, hook):
        self.hook = hook
        return self

    def remove(self):
        del self.hook


class ScriptedTokenizer(MapleTokenizer):
    """The tiny tokenizer, with the pieces of a script behind its own ids."""

    def __init__(self, pieces: Sequence[str | bytes], vocab_size: int, max_tokens: int = 1000):
        super().__init__(transformers_tokenizer(), max_tokens)
        self._pieces = [piece.encode() if isinstance(piece, str) else piece for piece in pieces]
        self._first = vocab_size

    def bytes_of(self, token_id: int) -> bytes:
        return self._pieces[token_id - self._first] if token_id >= self._first else super().bytes_of(token_id)


@functools.cache
def transformers_tokenizer() -> PreTrainedTokenizerFast:
    return PreTrainedTokenizerFast(
        tokenizer_object=tiny_tokenizer(),
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        chat_template=CHAT_TEMPLATE,
        clean_up_tokenization_spaces=False,
    )


def scripted_checkpoint(
    pieces: Sequence[str | bytes],
    ends: bool = True,
    context_length: int = 4096,
    vocab_size: int = VOCAB_SIZE,
    max_prompt_tokens: int = 65536,
) -> Checkpoint:
    """A checkpoint that says these pieces, a token each."""
    model = ScriptedModel(pieces, ends, context_length, vocab_size)
    tokenizer = ScriptedTokenizer(pieces, vocab_size, min(max_prompt_tokens, context_length - 1))
    return Checkpoint(model, tokenizer, frozenset([END_ID]), "cpu", "float32")


def ready_engine(checkpoint: Checkpoint, **settings) -> Engine:
    """A started engine that has loaded; stop() it."""
    engine = Engine(load=lambda settings, on_progress: checkpoint)
    engine.start(Settings(**settings))
    assert wait_until(lambda: engine.status().state == "ok")
    return engine


@contextlib.contextmanager
def scripted_engine(pieces: Sequence[str | bytes], ends: bool = True, context_length: int = 4096, **settings):
    """A ready engine that says these pieces and the fake network within; stopped at the end."""
    longest = settings.get("max_prompt_tokens", 65536)
    checkpoint = scripted_checkpoint(pieces, ends, context_length, max_prompt_tokens=longest)
    engine = ready_engine(checkpoint, **settings)
    try:
        yield engine, checkpoint.model
    finally:
        stop_engine(engine, checkpoint)


def stop_engine(engine: Engine, checkpoint: Checkpoint) -> None:
    """Stops it, also when its network waits at a gate."""
    for gate in getattr(checkpoint.model, "gates", {}).values():
        gate.set()
    engine.stop()


def a_request(prompt_ids=(1, 2, 3), max_new_tokens=100, stop=(), sampling=GREEDY) -> GenerationRequest:
    return GenerationRequest(tuple(prompt_ids), max_new_tokens, sampling, tuple(stop))


def read_all(generation, into: list[str] | None = None) -> str:
    """All text of a generation, also appended to into piece by piece; raises what it raises."""
    pieces, deadline = [] if into is None else into, time.monotonic() + GATE_SECONDS
    while not generation.finished:
        assert time.monotonic() < deadline, f"still not finished: {pieces}"
        pieces.append(generation.read(0.5) or "")
    return "".join(pieces)


def read_first(generation) -> str | None:
    """The first piece of text: the generation runs by then."""
    return wait_until(lambda: generation.read(0.2))


def is_idle(engine) -> bool:
    """Whether nothing runs or waits."""
    status = engine.status()
    return (status.active, status.queue_depth) == (0, 0)


def wait_until(condition, seconds: float = GATE_SECONDS):
    """Calls condition until it is true or the time is over; returns its last value."""
    deadline = time.monotonic() + seconds
    while not (value := condition()) and time.monotonic() < deadline:
        time.sleep(0.002)
    return value
