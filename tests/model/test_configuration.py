import json

import pytest
from huggingface_hub.errors import StrictDataclassError
from transformers import AutoConfig

from maple.model import MapleConfig
from tests.checkpoint_files import published_config


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("num_hidden_layers", 24),
        ("hidden_size", 2048),
        ("vocab_size", 151936),
        ("num_attention_heads", 16),
        ("num_key_value_heads", 4),
        ("head_dim", 128),
        ("layer_types", (["sliding_attention"] * 3 + ["full_attention"]) * 6),
        ("sliding_window", 512),
        ("window_positions", 513),
        ("nope_on_global_attention", True),
        ("rope_theta", 10000),
        ("partial_rotary_factor", 0.5),
        ("rotary_dim", 64),
        ("num_experts", 256),
        ("num_experts_per_tok", 8),
        ("moe_intermediate_size", 512),
        ("swiglu_limit", 7),
        ("rms_norm_eps", 1e-6),
        ("max_position_embeddings", 131072),
        ("hidden_act", "silu"),
        ("tie_word_embeddings", False),
        ("bos_token_id", 151643),
        ("pad_token_id", 151643),
        ("eos_token_id", 151645),
    ],
)
def test_defaults_are_the_published_values(field, value):
    assert getattr(MapleConfig(), field) == value


@pytest.mark.parametrize("num_layers", [1, 3, 4, 6])
def test_missing_layer_types_follow_the_published_pattern(num_layers):
    pattern = ["sliding_attention", "sliding_attention", "sliding_attention", "full_attention"] * 2
    assert MapleConfig(num_hidden_layers=num_layers).layer_types == pattern[:num_layers]


def test_given_layer_types_are_kept():
    layer_types = ["full_attention", "sliding_attention"]
    assert MapleConfig(num_hidden_layers=2, layer_types=layer_types).layer_types == layer_types


def test_published_file_is_read_dead_keys_included():
    fields = published_config(nope_on_global_attention=False, rope_theta=500, partial_rotary_factor=0.25)
    config = MapleConfig.from_dict(json.loads(json.dumps(fields)))
    for name in fields.keys() - {"auto_map", "rope_scaling", "torch_dtype"}:
        assert getattr(config, name) == fields[name], name
    assert config.rotary_dim == 4


def test_rope_parameters_of_newer_files_are_read():
    config = MapleConfig(rope_parameters={"rope_type": "default", "rope_theta": 5.0, "partial_rotary_factor": 0.25})
    assert (config.rope_theta, config.rotary_dim) == (5.0, 32)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("hidden_size", "2048"),
        ("num_hidden_layers", 24.0),
        ("num_experts", None),
        ("sliding_window", 512.5),
        ("nope_on_global_attention", "false"),
        ("rms_norm_eps", None),
        ("rope_theta", "10000"),
        ("swiglu_limit", None),
        ("eos_token_id", "<|im_end|>"),
    ],
)
def test_value_of_a_wrong_type_is_named(field, value):
    with pytest.raises(StrictDataclassError, match=field):
        MapleConfig(**{field: value})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_key_value_heads": 3}, "multiple of num_key_value_heads"),
        ({"num_key_value_heads": 0}, "num_key_value_heads must be at least 1"),
        ({"hidden_size": -4}, "hidden_size must be at least 1"),
        ({"num_experts_per_tok": 257}, "num_experts_per_tok must be at most"),
        ({"num_experts_per_tok": 0}, "num_experts_per_tok must be at least 1"),
        ({"layer_types": ["full_attention"] * 23}, "for each layer"),
        ({"layer_types": ["full_attention"] * 23 + ["chunked_attention"]}, "layer"),
        ({"sliding_window": 0}, "sliding_window must be at least 1"),
        ({"head_dim": 127}, "must be even"),
        ({"hidden_act": "gelu"}, "hidden_act must be silu"),
        ({"tie_word_embeddings": True}, "tie_word_embeddings must be false"),
        ({"rope_scaling": {"rope_type": "yarn", "factor": 4.0}}, "scaled RoPE"),
        ({"rope_scaling": {"type": "yarn", "factor": 4.0}}, "scaled RoPE"),
        ({"rope_parameters": {"rope_type": "linear", "factor": 2.0}}, "scaled RoPE"),
        ({"rope_parameters": {"full_attention": {"rope_theta": 5.0}}}, "for each layer type"),
        ({"rope_theta": 0}, "rope_theta"),
        ({"partial_rotary_factor": 2.0}, "partial_rotary_factor"),
        ({"attention_bias": True}, "attention_bias must be false"),
        ({"norm_topk_prob": False}, "norm_topk_prob must be true"),
    ],
)
def test_what_the_network_is_not_defined_for_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        MapleConfig(**changes)


@pytest.mark.parametrize(
    "fields",
    [
        {"rope_scaling": {"type": "default"}},
        {"rope_scaling": None},
        {"norm_topk_prob": True},
        {"attention_bias": False},
    ],
    ids=str,
)
def test_fields_that_say_what_the_network_is_anyway_pass(fields):
    MapleConfig(**fields)


def test_saved_config_is_read_again(tmp_path):
    config = MapleConfig(sliding_window=77, num_hidden_layers=2, eos_token_id=[1, 2], rope_theta=123.0)
    config.save_pretrained(tmp_path)
    loaded = AutoConfig.from_pretrained(tmp_path)
    assert isinstance(loaded, MapleConfig)
    assert loaded.to_dict() | {"_name_or_path": ""} == config.to_dict() | {"_name_or_path": ""}
