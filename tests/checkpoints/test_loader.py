import pytest
import torch

from maple.checkpoints.loader import load
from maple.errors import CheckpointError
from maple.settings import Settings
from tests.checkpoint_files import published_config, random_tensors, token_ids, write_checkpoint, write_json

IDS = token_ids()
SMALL = published_config(num_hidden_layers=1, num_experts=4)


def load_quietly(directory, **settings):
    return load(Settings(model_path=str(directory), device="cpu", **settings), lambda fraction: None)


def test_checkpoint_holds_what_a_server_needs(tiny_checkpoint):
    fractions = []
    checkpoint = load(Settings(model_path=str(tiny_checkpoint), device="cpu"), fractions.append)
    assert checkpoint.device == "cpu"
    assert checkpoint.dtype == "float32 + 2-bit ternary experts (40 packed) + 2-bit ternary attention (20 packed)"
    assert (checkpoint.context_length, checkpoint.vocab_size) == (4096, 352)
    assert checkpoint.end_ids == {IDS["<|im_end|>"], IDS["<|endoftext|>"]}
    assert checkpoint.tokenizer.encode("<think>") == [IDS["<think>"]]
    assert fractions[-1] == 1


@pytest.mark.parametrize(
    ("settings", "described"),
    [
        ({"pack_experts": "false"}, "float32"),
        ({"pack_experts": "false", "dtype": "bfloat16"}, "bfloat16"),
        ({"dtype": "bfloat16"}, "bfloat16 + 2-bit ternary experts (40 packed) + 2-bit ternary attention (20 packed)"),
        ({"pack_experts": "true"}, "float32 + 2-bit ternary experts (40 packed) + 2-bit ternary attention (20 packed)"),
    ],
    ids=str,
)
def test_settings_say_how_weights_are_held(tiny_checkpoint, settings, described):
    checkpoint = load_quietly(tiny_checkpoint, **settings)
    assert checkpoint.dtype == described
    assert str(checkpoint.model.lm_head.weight.dtype) == f"torch.{described.split()[0]}"


def test_only_what_is_packed_is_counted(tmp_path):
    tensors = random_tensors(SMALL)
    for name in ("self_attn.q_proj", "mlp.experts.2.down_proj"):
        tensors[f"model.layers.0.{name}.weight"] = torch.randn(tensors[f"model.layers.0.{name}.weight"].shape)
    checkpoint = load_quietly(write_checkpoint(tmp_path, SMALL, tensors))
    assert checkpoint.dtype == "float32 + 2-bit ternary experts (3 packed) + 2-bit ternary attention (3 packed)"


@pytest.mark.parametrize(
    ("config", "generation_config", "added"),
    [
        ({}, None, set()),
        ({"eos_token_id": [5, IDS["<|im_end|>"]]}, None, {5}),
        ({"eos_token_id": None}, None, set()),
        ({}, {"eos_token_id": 7}, {7}),
        ({"eos_token_id": 5}, {"eos_token_id": [7, 8]}, {5, 7, 8}),
        ({}, {"temperature": 0.6}, set()),
    ],
    ids=str,
)
def test_all_declared_end_ids_end_a_turn(tmp_path, config, generation_config, added):
    write_checkpoint(tmp_path, SMALL | config)
    if generation_config is not None:
        write_json(tmp_path / "generation_config.json", generation_config)
    assert load_quietly(tmp_path).end_ids == {IDS["<|im_end|>"], IDS["<|endoftext|>"]} | added


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_missing_file_is_named(tmp_path, name):
    write_checkpoint(tmp_path, SMALL)
    (tmp_path / name).unlink()
    with pytest.raises(CheckpointError, match=name):
        load_quietly(tmp_path)


def test_a_device_that_is_not_there_is_named(tiny_checkpoint):
    missing = "mps" if torch.cuda.is_available() else "cuda"
    with pytest.raises(CheckpointError, match=f"MAPLE_DEVICE: {missing} cannot be used here"):
        load(Settings(model_path=str(tiny_checkpoint), device=missing), lambda fraction: None)
