"""Muon: momentum made orthogonal, for the matrices."""

from __future__ import annotations

from collections import defaultdict

import torch
from torch import Tensor

# Newton-Schulz coefficients (Keller Jordan's): five rounds bring singular values near one.
_ROUNDS, _A, _B, _C = 5, 3.4445, -4.7750, 2.0315


def orthogonal(matrices: Tensor) -> Tensor:
    """Nearly the closest orthogonal matrices. matrices: [count, out, in] with out <= in"""
    x = matrices.bfloat16()
    x = x / (x.flatten(1).norm(dim=1)[:, None, None] + 1e-7)
    for _ in range(_ROUNDS):
        gram = x @ x.mT
        x = _A * x + torch.baddbmm(_B * gram, gram, gram, alpha=_C) @ x
    return x.float()


class Muon(torch.optim.Optimizer):
    """For parameters [out, in] or [experts, out, in] that are not wider out than in."""

    def __init__(self, params, lr: float, momentum: float = 0.95, weight_decay: float = 0.0):
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self):
        """Updates all matrices of one shape together."""
        for group in self.param_groups:
            by_shape = defaultdict(list)
            for weight in group["params"]:
                by_shape[weight.shape[-2:]].append(weight)
            for weights in by_shape.values():
                self._step_together(group, weights)

    def _step_together(self, group: dict, weights: list[Tensor]):
        directions = []
        for weight in weights:
            state = self.state[weight]
            if "momentum" not in state:
                state["momentum"] = torch.zeros_like(weight)
            state["momentum"].lerp_(weight.grad, 1 - group["momentum"])
            ahead = weight.grad.lerp(state["momentum"], group["momentum"])
            directions.append(ahead.view(-1, *weight.shape[-2:]))
        updates = orthogonal(torch.cat(directions)).split([len(d) for d in directions])
        # The factor gives updates the size AdamW's have, so that one rate serves both.
        size = 0.2 * max(weights[0].shape[-2:]) ** 0.5
        for weight, update in zip(weights, updates, strict=True):
            weight.mul_(1 - group["lr"] * group["weight_decay"])
            weight.add_(update.view_as(weight), alpha=-group["lr"] * size)
