"""Layers shaped like nn.Linear whose weights are one matrix or one matrix an expert, dense or packed."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from maple.kernels import ternary


class PackedLinear(nn.Module):
    """An nn.Linear without bias whose ternary weight is held at 2 bits."""

    def __init__(self, words: Tensor, scales: Tensor):
        super().__init__()
        self.out_features = words.shape[-2]
        self.in_features = words.shape[-1] * ternary.CODES_PER_WORD
        self.register_buffer("words", words)
        self.register_buffer("scales", scales)

    def forward(self, x: Tensor) -> Tensor:
        """x: [..., in] -> [..., out]"""
        return ternary.linear(x, self.words, self.scales)


class ExpertLinear(nn.Module):
    """One linear map without bias for each expert."""

    def __init__(self, num_experts: int, in_features: int, out_features: int):
        super().__init__()
        self.num_experts, self.in_features, self.out_features = num_experts, in_features, out_features
        self.weight = nn.Parameter(torch.empty(num_experts, out_features, in_features))

    def forward(self, x: Tensor, expert: int) -> Tensor:
        """x: [tokens, in] -> [tokens, out]"""
        return F.linear(x, self.weight[expert])


class PackedExpertLinear(PackedLinear):
    """An ExpertLinear whose ternary weights are held at 2 bits, those of the experts in `unpacked` as they are."""

    def __init__(self, words: Tensor, scales: Tensor, unpacked: dict[int, Tensor] | None = None):
        super().__init__(words, scales)
        self.num_experts = words.shape[0]
        self.unpacked = nn.ParameterDict({str(expert): weight for expert, weight in (unpacked or {}).items()})

    def is_packed(self, expert: int) -> bool:
        return str(expert) not in self.unpacked

    def forward(self, x: Tensor, expert: int) -> Tensor:
        """x: [tokens, in] -> [tokens, out]; the expert's weight is unpacked once for all its tokens"""
        if not self.is_packed(expert):
            return F.linear(x, self.unpacked[str(expert)])
        return ternary.linear(x, self.words[expert], self.scales[expert])
