"""The keys and values of the tokens so far: all of them on full layers, the window's on sliding ones."""

import torch
from torch import Tensor
from transformers.cache_utils import Cache, DynamicLayer, DynamicSlidingWindowLayer

from maple.model.configuration import MapleConfig


class MapleCache(Cache):
    """A KV cache whose sliding layers keep the sliding_window tokens that the next one may see beside itself."""

    def __init__(self, config: MapleConfig):
        super().__init__(
            layers=[
                DynamicSlidingWindowLayer(sliding_window=config.window_positions)
                if layer_type == "sliding_attention"
                else DynamicLayer()
                for layer_type in config.layer_types
            ]
        )


def visible_keys(
    config: MapleConfig, is_sliding: bool, num_past: int, num_new: int, attention_mask: Tensor | None, device
) -> Tensor | None:
    """Which keys each new token may attend to: bool [batch or 1, 1, new, keys], or None if all.

    Keys are those the cache returns: the past it holds and the new tokens. attention_mask: [batch, past + new],
    0 on padding; a padded token still sees itself, so that no row is empty.
    """
    past_held = min(num_past, config.sliding_window) if is_sliding else num_past
    if num_new == 1 and attention_mask is None:
        return None
    queries = torch.arange(num_past, num_past + num_new, device=device).unsqueeze(1)
    keys = torch.arange(num_past - past_held, num_past + num_new, device=device)
    distance = queries - keys
    visible = distance >= 0
    if is_sliding:
        visible &= distance <= config.sliding_window
    visible = visible[None, None]
    if attention_mask is not None:
        is_token = attention_mask[:, None, None, num_past - past_held :].bool()
        visible = (visible & is_token) | (distance == 0)
    return visible
