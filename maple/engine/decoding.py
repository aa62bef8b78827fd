"""The generation loop: prompt in chunks, then token by token."""

from collections.abc import Callable

import torch
from torch import Tensor

from maple.checkpoints.loader import Checkpoint
from maple.engine.requests import GenerationRequest
from maple.engine.sampler import Sampler
from maple.engine.streamer import TokenStreamer
from maple.model.cache import MapleCache

PROMPT_CHUNK = 128  # tokens between two looks at the cancel flag


@torch.inference_mode()
def decode(
    checkpoint: Checkpoint, request: GenerationRequest, streamer: TokenStreamer, is_cancelled: Callable[[], bool]
) -> str:
    """Generates into the streamer until the turn ends; returns the finish reason, "stop" or "length".

    Ends early, with "stop", once is_cancelled() is true; it is asked before each token and each prompt chunk.
    """
    model = checkpoint.model
    cache = MapleCache(model.config)
    sampler = Sampler(request.sampling, request.prompt_ids, checkpoint.vocab_size, checkpoint.device)
    room = checkpoint.context_length - len(request.prompt_ids)
    pending = torch.tensor([request.prompt_ids], device=checkpoint.device)
    for _ in range(min(request.max_new_tokens, room)):
        logits = _forward(model, pending, cache, is_cancelled)
        if logits is None:
            return "stop"
        token = sampler.sample(logits)
        if token in checkpoint.end_ids:
            streamer.put_end_token()
            return "stop"
        streamer.put(token)
        if streamer.has_stopped:
            return "stop"
        pending = torch.tensor([[token]], device=checkpoint.device)
    return "length"


def _forward(model, ids: Tensor, cache: MapleCache, is_cancelled: Callable[[], bool]) -> Tensor | None:
    """Logits [vocab] after ids [1, new], or None if cancelled."""
    for chunk in ids.split(PROMPT_CHUNK, dim=1):
        if is_cancelled():
            return None
        logits = model(chunk, past_key_values=cache, use_cache=True, logits_to_keep=1).logits
    return logits[0, -1]
