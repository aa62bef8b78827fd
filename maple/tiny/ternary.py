"""Ternary weights: a value of each row's {-a, 0, +a}, trained through the straight-through estimator."""

from __future__ import annotations

from torch import Tensor

THRESHOLD = 0.7  # of a row's mean magnitude; smaller weights become zero


def to_ternary(weight: Tensor) -> Tensor:
    """The nearest ternary matrix; each row's scale is a bf16 number. weight: [..., out, in]"""
    size = weight.abs()
    kept = (size > THRESHOLD * size.mean(-1, keepdim=True)).float()
    scale = (size * kept).sum(-1, keepdim=True) / kept.sum(-1, keepdim=True).clamp_min(1.0)
    return weight.sign() * kept * scale.bfloat16().float()


def straight_through(weight: Tensor) -> Tensor:
    """Ternary going forward, the identity for gradients."""
    return weight + (to_ternary(weight) - weight).detach()


def is_ternary(name: str) -> bool:
    """Whether a tensor of this name is one of the ternary matrices."""
    return name.endswith("_proj.weight")
