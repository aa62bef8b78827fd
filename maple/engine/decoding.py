"""The generation loop: prompt in chunks, then token by token."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from maple.checkpoints.loader import Checkpoint
from maple.engine.requests import GenerationRequest
from maple.engine.sampler import Sampler
from maple.engine.streamer import TokenStreamer
from maple.model import MapleForCausalLM
from maple.model.cache import MapleCache

PROMPT_CHUNK = 128  # tokens a forward pass takes of a long prompt


class Cancelled(Exception):
    """Nobody waits for the text any more."""


@torch.inference_mode()
def decode(
    checkpoint: Checkpoint, request: GenerationRequest, streamer: TokenStreamer, is_cancelled: Callable[[], bool]
) -> str:
    """Generates into the streamer until the turn ends; returns the finish reason, "stop" or "length".

    Raises Cancelled soon after is_cancelled() has become true; it is asked before each layer.
    """
    with _cancelled_between_layers(checkpoint.model, is_cancelled):
        return _decode(checkpoint, request, streamer)


def _decode(checkpoint: Checkpoint, request: GenerationRequest, streamer: TokenStreamer) -> str:
    model = checkpoint.model
    cache = MapleCache(model.config)
    sampler = Sampler(request.sampling, request.prompt_ids, checkpoint.vocab_size, checkpoint.device)
    room = checkpoint.context_length - len(request.prompt_ids)
    pending = torch.tensor([request.prompt_ids], device=checkpoint.device)
    for _ in range(min(request.max_new_tokens, room)):
        token = sampler.sample(_forward(model, pending, cache))
        if token in checkpoint.end_ids:
            streamer.put_end_token()
            return "stop"
        streamer.put(token)
        if streamer.has_stopped:
            return "stop"
        pending = torch.tensor([[token]], device=checkpoint.device)
    streamer.put_no_more()
    return "stop" if streamer.has_stopped else "length"


def _forward(model: MapleForCausalLM, ids: Tensor, cache: MapleCache) -> Tensor:
    """Logits [vocab] after ids [1, new]."""
    for chunk in ids.split(PROMPT_CHUNK, dim=1):
        logits = model(chunk, past_key_values=cache, use_cache=True, logits_to_keep=1).logits
    return logits[0, -1]


@contextmanager
def _cancelled_between_layers(model: MapleForCausalLM, is_cancelled: Callable[[], bool]) -> Iterator[None]:
    # A chunk of the full-size model takes seconds, one of its layers a fraction of one.
    def check(*_) -> None:
        if is_cancelled():
            raise Cancelled

    hooks = [layer.register_forward_pre_hook(check) for layer in model.model.layers]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
