"""Loads everything a server needs of a model: network, tokenizer, and the ids that end a turn."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from maple.checkpoints import huggingface
from maple.checkpoints.source import locate
from maple.checkpoints.tokenizer import MapleTokenizer
from maple.errors import CheckpointError
from maple.kernels.layers import PackedExpertLinear, PackedLinear
from maple.model import MapleForCausalLM
from maple.settings import Settings

END_TOKENS = ("<|im_end|>", "<|endoftext|>")

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Checkpoint:
    """A loaded model."""

    model: MapleForCausalLM
    tokenizer: MapleTokenizer
    end_ids: frozenset[int]
    device: str
    dtype: str  # how the weights are held, for /health

    @property
    def context_length(self) -> int:
        return self.model.config.max_position_embeddings

    @property
    def vocab_size(self) -> int:
        """Rows of the embedding: ids below it are legal."""
        return self.model.config.vocab_size


def load(settings: Settings, on_progress: Callable[[float], None]) -> Checkpoint:
    """Loads the model the settings name. Raises CheckpointError."""
    device = _device(settings.device)
    directory = locate(settings.model_path)
    dtype = _dtype(settings.dtype, device)
    pack = device == "cpu" if settings.pack_experts == "auto" else settings.pack_experts == "true"
    context_length = huggingface.read_config(directory).max_position_embeddings
    tokenizer = MapleTokenizer.from_directory(directory, min(settings.max_prompt_tokens, context_length - 1))
    model = huggingface.load_model(directory, dtype=dtype, device=device, pack=pack, on_progress=on_progress)
    return Checkpoint(model, tokenizer, _end_ids(directory, model, tokenizer), device, _describe(model, dtype))


def _device(name: str) -> str:
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.zeros(1, device=name)
    except Exception as error:  # of many kinds, with the stack of the driver's own words
        raise CheckpointError(f"MAPLE_DEVICE: {name} cannot be used here ({str(error).splitlines()[0]})") from error
    return name


def _dtype(name: str, device: str) -> torch.dtype:
    if name != "auto":
        return getattr(torch, name)
    return torch.float32 if device == "cpu" else torch.bfloat16


def _end_ids(directory: Path, model: MapleForCausalLM, tokenizer: MapleTokenizer) -> frozenset[int]:
    declared = [model.config.eos_token_id, tokenizer.transformers_tokenizer.eos_token_id]
    if (directory / "generation_config.json").exists():
        declared.append(huggingface.read_json(directory / "generation_config.json").get("eos_token_id"))
    ids = {tokenizer.control_tokens[token] for token in END_TOKENS if token in tokenizer.control_tokens}
    for value in declared:
        ids.update(value if isinstance(value, list) else [] if value is None else [value])
    if not all(isinstance(end_id, int) for end_id in ids):
        raise CheckpointError(f"eos_token_id must be an id or a list of ids, not {declared}")
    return frozenset(ids)


def _describe(model: MapleForCausalLM, dtype: torch.dtype) -> str:
    """Such as "float32 + 2-bit ternary experts (6144 packed) + 2-bit ternary attention (96 packed)"."""
    text = str(dtype).removeprefix("torch.")
    num_experts = 0
    for layer in model.model.layers:
        experts = layer.mlp.experts
        stacks = (experts.gate_proj, experts.up_proj, experts.down_proj)
        if all(isinstance(stack, PackedExpertLinear) for stack in stacks):
            num_experts += sum(
                all(stack.is_packed(expert) for stack in stacks) for expert in range(stacks[0].num_experts)
            )
    num_attention = sum(
        type(module) is PackedLinear for layer in model.model.layers for module in layer.self_attn.children()
    )
    if num_experts:
        text += f" + 2-bit ternary experts ({num_experts} packed)"
    if num_attention:
        text += f" + 2-bit ternary attention ({num_attention} packed)"
    return text
