"""The Maple network written for training on CPU cores: one graph without branches, in bf16.

All experts run on all tokens and the router's weights switch off what was not chosen: three
plain matrix products a layer are much faster here than a sort. A test compares it to MapleForCausalLM.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from maple.model import MapleConfig
from maple.model.modeling import apply_rotary, rotary_angles
from maple.tiny.ternary import straight_through

BALANCE = 0.01  # weight of the term that keeps all experts in use


@dataclass(frozen=True)
class Batch:
    """Rows of packed conversations; a token sees only its own conversation."""

    ids: Tensor  # [rows, length]
    documents: Tensor  # [rows, length], 0 for padding
    is_target: Tensor  # [rows, length], whether this token is to be predicted


def attention_biases(documents: Tensor, window: int) -> tuple[Tensor, Tensor]:
    """What sliding and full layers may see, as 0 or minus infinity: [rows, 1, length, length], bf16."""
    places = torch.arange(documents.shape[1])
    distance = places[:, None] - places
    full = (documents[:, :, None] == documents[:, None, :]) & (distance >= 0)
    sliding = full & (distance <= window)
    blank = torch.zeros(full.shape, dtype=torch.bfloat16)
    return tuple(blank.masked_fill(~seen, float("-inf"))[:, None] for seen in (sliding, full))


class TrainingForward:
    """Hidden states and the balance term from a dictionary of named parameters."""

    def __init__(self, config: MapleConfig):
        self.config = config

    def __call__(self, weights: dict[str, Tensor], ids: Tensor, biases: tuple[Tensor, Tensor]):
        """ids: [rows, length] -> final hidden states [rows, length, hidden] in bf16, balance term"""
        config, balance = self.config, 0.0
        rotary = rotary_angles(config, torch.arange(ids.shape[1])[None])
        x = F.embedding(ids, weights["model.word_embeddings.weight"])
        for layer, kind in enumerate(config.layer_types):
            prefix = f"model.layers.{layer}."
            part = {k[len(prefix) :]: v for k, v in weights.items() if k.startswith(prefix)}
            sliding = kind == "sliding_attention"
            h = self._norm(x, part["input_layernorm.weight"])
            turn = rotary if sliding or not config.nope_on_global_attention else None
            x = x + self._attention(part, h.bfloat16(), turn, biases[0 if sliding else 1])
            h = self._norm(x, part["post_attention_layernorm.weight"])
            shares, penalty = self._routing(h, part["mlp.gate.weight"])
            x = x + self._experts(part, h.bfloat16(), shares)
            balance = balance + penalty / config.num_hidden_layers
        return self._norm(x, weights["model.norm.weight"]).bfloat16(), balance

    def _norm(self, x: Tensor, weight: Tensor) -> Tensor:
        x = x.float()
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.config.rms_norm_eps) * weight

    def _attention(self, part: dict, h: Tensor, rotary, bias: Tensor) -> Tensor:
        def heads(name: str) -> Tensor:
            weight = straight_through(part[f"self_attn.{name}_proj.weight"]).bfloat16()
            return (h @ weight.t()).unflatten(-1, (-1, self.config.head_dim)).transpose(1, 2)

        q = self._norm(heads("q"), part["self_attn.q_norm.weight"])
        k = self._norm(heads("k"), part["self_attn.k_norm.weight"])
        if rotary is not None:
            q, k = apply_rotary(q, *rotary), apply_rotary(k, *rotary)
        share = self.config.num_attention_heads // self.config.num_key_value_heads
        k, v = (t.bfloat16().repeat_interleave(share, 1) for t in (k, heads("v")))
        seen = F.scaled_dot_product_attention(q.bfloat16(), k, v, attn_mask=bias)
        out = straight_through(part["self_attn.o_proj.weight"]).bfloat16()
        return (seen.transpose(1, 2).flatten(-2) @ out.t()).float()

    def _routing(self, h: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Each expert's share in each token (zero where not chosen), and how uneven the use is."""
        count, chosen = self.config.num_experts, self.config.num_experts_per_tok
        odds = (h @ weight.t()).softmax(-1)
        picked = odds >= odds.topk(chosen, -1).values[..., -1:]
        shares = torch.where(picked, odds, 0.0)
        used = picked.float().mean((0, 1)) / chosen
        penalty = count * (used * odds.mean((0, 1))).sum()
        return shares / shares.sum(-1, keepdim=True), penalty

    def _experts(self, part: dict, h: Tensor, shares: Tensor) -> Tensor:
        gate, up, down = (
            straight_through(part[f"mlp.experts.{name}_proj.weight"]).bfloat16() for name in ("gate", "up", "down")
        )
        limit = self.config.swiglu_limit
        open_ = (h @ gate.flatten(0, 1).t()).float().clamp(max=limit)
        value = (h @ up.flatten(0, 1).t()).float().clamp(-limit, limit)
        inner = (F.silu(open_) * value).unflatten(-1, (self.config.num_experts, -1))
        inner = (inner * shares[..., None]).bfloat16().flatten(-2)
        return (inner @ down.transpose(1, 2).flatten(0, 1)).float()


def loss_of(hidden: Tensor, head: Tensor, batch: Batch) -> Tensor:
    """Mean cross entropy over the tokens of the model's own turns."""
    wanted = batch.is_target[:, 1:]
    logits = hidden[:, :-1][wanted] @ head.bfloat16().t()
    return F.cross_entropy(logits.float(), batch.ids[:, 1:][wanted])
