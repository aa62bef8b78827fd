"""Draws the next token: the same distribution as Transformers' logits processors, at less cost."""

from collections.abc import Sequence

import torch
from torch import Tensor

from maple.engine.requests import SamplingParams

GREEDY_BELOW = 1e-5
PENALTY_LIMIT = 1e9  # and its inverse: beyond them logits overflow, within them the choice is as clear


class Sampler:
    """Repetition penalty, temperature, top k and top p, in Transformers' order, with random numbers of its own."""

    def __init__(self, params: SamplingParams, prompt_ids: Sequence[int], vocab_size: int, device: str):
        self._params = params
        self._is_seen = torch.zeros(vocab_size, dtype=torch.bool, device=device)
        self._is_seen[torch.tensor(prompt_ids, device=device)] = True
        self._generator = torch.Generator(device)
        if params.seed is None:
            self._generator.seed()
        else:
            self._generator.manual_seed(params.seed)

    def sample(self, logits: Tensor) -> int:
        """logits [vocab] -> token id, which from then on counts as seen. Raises ValueError for NaN."""
        if logits.isnan().any():
            raise ValueError("the network's logits are not numbers")
        logits = self._penalised(logits.float())
        if self._params.temperature < GREEDY_BELOW:
            token = int(logits.argmax())
        else:
            candidates, probabilities = self.distribution(logits)
            token = int(candidates[torch.multinomial(probabilities, 1, generator=self._generator)])
        self._is_seen[token] = True
        return token

    def distribution(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        """Penalised logits [vocab] -> the candidates' ids and probabilities, most probable first."""
        logits = logits / self._params.temperature
        top_k, top_p = self._params.top_k, self._params.top_p
        candidates = torch.arange(len(logits), device=logits.device)
        if 0 < top_k < len(logits):
            # Taking the k before sorting spares the sort of the whole vocabulary; ties with the last one stay.
            candidates = (logits >= logits.topk(top_k).values[-1]).nonzero().squeeze(-1)
        logits, order = logits[candidates].sort(descending=True, stable=True)
        probabilities = logits.softmax(dim=-1)
        if top_p < 1:
            keep = probabilities.cumsum(dim=-1) - probabilities < top_p
            keep[0] = True
            order, probabilities = order[keep], probabilities[keep]
        return candidates[order], probabilities / probabilities.sum()

    def _penalised(self, logits: Tensor) -> Tensor:
        penalty = min(max(self._params.repetition_penalty, 1 / PENALTY_LIMIT), PENALTY_LIMIT)
        if penalty == 1:
            return logits
        penalised = torch.where(logits > 0, logits / penalty, logits * penalty)
        return torch.where(self._is_seen, penalised, logits)
