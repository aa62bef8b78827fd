"""What the engine is asked to do."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """How the next token is drawn. temperature below 1e-5 is greedy, top_k 0 and top_p 1 are off."""

    temperature: float
    top_p: float
    top_k: int
    repetition_penalty: float
    seed: int | None


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """One sequence to generate. max_new_tokens is at least 1; no stop string is empty."""

    prompt_ids: tuple[int, ...]
    max_new_tokens: int
    sampling: SamplingParams
    stop: tuple[str, ...] = ()
