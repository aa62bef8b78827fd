import json

import pytest
from safetensors.torch import load_file
from transformers import AutoTokenizer

from maple.tiny import MODEL_PATH
from maple.tiny.ternary import is_ternary

LARGEST = 12_000_000


@pytest.fixture(scope="module")
def tensors():
    return load_file(MODEL_PATH / "model.safetensors")


def test_the_matrices_are_exactly_ternary(tensors):
    names = [name for name in tensors if is_ternary(name)]

    assert len(names) == 4 * (4 + 4 * 3)
    for name in names:
        size = tensors[name].abs()
        assert ((size == 0) | (size == size.amax(-1, keepdim=True))).all(), name
        assert size.amax(-1).min() > 0, name


def test_it_fits_in_the_box():
    assert sum(path.stat().st_size for path in MODEL_PATH.iterdir()) <= LARGEST


def test_it_is_the_real_architecture():
    config = json.loads((MODEL_PATH / "config.json").read_text())

    assert config["architectures"] == ["MapleForCausalLM"]
    assert config["layer_types"] == ["sliding_attention"] * 3 + ["full_attention"]
    assert config["nope_on_global_attention"] is True
    assert config["tie_word_embeddings"] is False


def test_ends_of_turn_are_known():
    tokenizer = AutoTokenizer.from_pretrained(MODEL_PATH)
    config = json.loads((MODEL_PATH / "config.json").read_text())
    generation = json.loads((MODEL_PATH / "generation_config.json").read_text())

    assert tokenizer.eos_token == "<|im_end|>"
    assert config["eos_token_id"] == tokenizer.eos_token_id
    assert generation["eos_token_id"] == tokenizer.convert_tokens_to_ids(["<|im_end|>", "<|endoftext|>"])


def test_the_shipped_template_is_the_one_it_learned():
    source = MODEL_PATH.parent / "chat_template.jinja"

    assert (MODEL_PATH / "chat_template.jinja").read_text() == source.read_text()
