"""Writes the model's files: weights rounded to what they were in training, tokenizer, defaults."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import torch
from transformers import GenerationConfig, PreTrainedTokenizerFast

from maple.model import MapleForCausalLM
from maple.tiny.ternary import is_ternary, to_ternary


@torch.no_grad()
def baked(model: MapleForCausalLM, end: int, padding: int) -> MapleForCausalLM:
    """A bf16 copy whose attention and expert matrices are exactly ternary."""
    model = copy.deepcopy(model).eval()
    for name, weight in model.named_parameters():
        if is_ternary(name):
            weight.copy_(to_ternary(weight))
    model.config.eos_token_id, model.config.pad_token_id = end, padding
    model.generation_config = GenerationConfig(eos_token_id=[end, padding], pad_token_id=padding, do_sample=False)
    return model.to(torch.bfloat16)


def export(model: MapleForCausalLM, tokenizer: PreTrainedTokenizerFast, path: Path):
    """Saves everything a loader expects, in the published layout."""
    baked(model, tokenizer.eos_token_id, tokenizer.pad_token_id).save_pretrained(path)
    (path / "model.safetensors").chmod(0o644)
    tokenizer.save_pretrained(path)
    settings = json.loads((path / "tokenizer_config.json").read_text(encoding="utf-8"))
    for passing in ("is_local", "local_files_only"):
        settings.pop(passing, None)
    settings["tokenizer_class"] = "PreTrainedTokenizerFast"
    settings["model_max_length"] = model.config.max_position_embeddings
    (path / "tokenizer_config.json").write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
