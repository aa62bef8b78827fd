import json
import logging
import os

import pytest
import torch
from safetensors.torch import save_file

from maple.checkpoints.huggingface import load_model, read_config, read_json
from maple.errors import CheckpointError
from maple.kernels import ternary
from maple.kernels.layers import ExpertLinear, PackedExpertLinear, PackedLinear
from tests.checkpoint_files import (
    is_ternary_name,
    published_config,
    random_tensors,
    write_checkpoint,
    write_json,
    write_weights,
)

CONFIG = published_config(num_hidden_layers=2, layer_types=["sliding_attention", "full_attention"], num_experts=4)
EXPERT = "model.layers.1.mlp.experts.2.up_proj.weight"
QUERY = "model.layers.0.self_attn.q_proj.weight"
INDEX = "model.safetensors.index.json"


@pytest.fixture(scope="module")
def tensors():
    return random_tensors(CONFIG, seed=5)


def loaded_tensors(model):
    """What the model holds, by published name, unpacked to float32."""
    found = {}
    for path, module in model.named_modules():
        if isinstance(module, (ExpertLinear, PackedExpertLinear)):
            parent, _, projection = path.rpartition(".")
            for expert in range(module.num_experts):
                if isinstance(module, ExpertLinear):
                    weight = module.weight[expert]
                elif module.is_packed(expert):
                    weight = ternary.unpack(module.words[expert], module.scales[expert])
                else:
                    weight = module.unpacked[str(expert)]
                found[f"{parent}.{expert}.{projection}.weight"] = weight
        elif isinstance(module, PackedLinear):
            found[f"{path}.weight"] = ternary.unpack(module.words, module.scales)
        elif "weight" in module._parameters:
            found[f"{path}.weight"] = module.weight
    return found


def assert_same_values(model, tensors):
    found = loaded_tensors(model)
    assert found.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert found[name].device.type == "cpu", name
        assert torch.equal(found[name].float(), tensor.float()), name


@pytest.mark.parametrize("num_shards", [1, 3])
@pytest.mark.parametrize("pack", [True, False])
def test_every_value_is_the_source_s(tmp_path, tensors, pack, num_shards):
    model = load_model(write_checkpoint(tmp_path, CONFIG, tensors, num_shards), pack=pack)
    assert_same_values(model, tensors)
    assert any((tensor == 0).logical_and(tensor.signbit()).any() for tensor in tensors.values())  # -0.0 was there
    assert not model.training
    assert not any(parameter.requires_grad for parameter in model.parameters())


def test_all_ternary_matrices_are_packed_and_no_others(tmp_path, tensors, caplog):
    model = load_model(write_checkpoint(tmp_path, CONFIG, tensors))
    packed = [path for path, module in model.named_modules() if isinstance(module, PackedLinear)]
    assert packed == [
        f"model.layers.{layer}.{name}_proj"
        for layer in (0, 1)
        for name in (*(f"self_attn.{n}" for n in "qkvo"), *(f"mlp.experts.{n}" for n in ("gate", "up", "down")))
    ]
    assert not any("_proj" in name for name, _ in model.named_parameters())
    assert not caplog.records


def test_nothing_is_packed_unless_asked_for(tmp_path, tensors, caplog):
    model = load_model(write_checkpoint(tmp_path, CONFIG, tensors), pack=False)
    assert not any(isinstance(module, PackedLinear) for module in model.modules())
    assert not caplog.records


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("pack", [True, False])
def test_norms_and_router_are_float32_the_rest_as_asked(tmp_path, tensors, pack, dtype):
    model = load_model(write_checkpoint(tmp_path, CONFIG, tensors), dtype=dtype, pack=pack)
    for name, weight in model.named_parameters():
        is_float32 = "norm" in name or name.endswith("mlp.gate.weight")
        assert weight.dtype == (torch.float32 if is_float32 else dtype), name
    logits = model(torch.arange(20).unsqueeze(0)).logits
    assert logits.dtype == dtype
    assert logits.isfinite().all()


def test_progress_rises_to_one(tmp_path, tensors):
    fractions = []
    load_model(write_checkpoint(tmp_path, CONFIG, tensors), on_progress=fractions.append)
    assert fractions == sorted(fractions)
    assert len(set(fractions)) > 10
    assert 0 < fractions[0] < 0.1
    assert fractions[-1] == 1


def not_ternary(name, tensors):
    weight = tensors[name].clone()
    weight[3, 4] = 0.7001953125
    return weight


@pytest.mark.parametrize("pack", [True, False])
def test_types_may_be_mixed(tmp_path, tensors, pack):
    mixed = tensors | {EXPERT: tensors[EXPERT].float() * 1.01}
    assert_same_values(load_model(write_checkpoint(tmp_path, CONFIG, mixed), pack=pack), mixed)


@pytest.mark.parametrize("name", [EXPERT, QUERY])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_matrix_that_is_not_ternary_stays_as_it_is_and_is_logged(tmp_path, tensors, caplog, name, dtype):
    changed = tensors | {name: not_ternary(name, tensors)}
    model = load_model(write_checkpoint(tmp_path, CONFIG, changed), dtype=dtype)
    assert_same_values(model, changed)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert name in caplog.text
    stack = model.model.layers[1].mlp.experts.up_proj
    assert [stack.is_packed(expert) for expert in range(4)] == [True, True, name != EXPERT, True]
    assert isinstance(model.model.layers[0].self_attn.q_proj, PackedLinear) == (name != QUERY)
    dense = load_model(tmp_path, dtype=dtype, pack=False)
    ids = torch.arange(20).unsqueeze(0)
    if dtype == torch.float32:
        assert torch.allclose(model(ids).logits, dense(ids).logits, atol=1e-4)


def test_layer_of_experts_none_of_which_is_ternary_stays_as_it_is(tmp_path, tensors, caplog):
    names = [f"model.layers.0.mlp.experts.{expert}.down_proj.weight" for expert in range(4)]
    changed = tensors | {name: not_ternary(name, tensors) for name in names}
    model = load_model(write_checkpoint(tmp_path, CONFIG, changed))
    assert_same_values(model, changed)
    assert isinstance(model.model.layers[0].mlp.experts.down_proj, ExpertLinear)
    assert names[0] in caplog.text
    assert "4 experts of 4" in caplog.text


def test_matrices_whose_rows_do_not_fill_words_stay_as_they_are(tmp_path, caplog):
    config = CONFIG | {"moe_intermediate_size": 24}
    tensors = random_tensors(config)
    model = load_model(write_checkpoint(tmp_path, config, tensors))
    assert_same_values(model, tensors)
    assert isinstance(model.model.layers[0].mlp.experts.up_proj, PackedExpertLinear)
    assert isinstance(model.model.layers[0].mlp.experts.down_proj, ExpertLinear)
    assert "model.layers.0.mlp.experts.0.down_proj.weight" in caplog.text


@pytest.mark.parametrize("pack", [True, False])
def test_source_may_be_float32(tmp_path, tensors, pack):
    wide = {name: tensor.float() * 1.01 for name, tensor in tensors.items()}  # no bf16 numbers any more
    assert_same_values(load_model(write_checkpoint(tmp_path, CONFIG, wide), pack=pack), wide)


@pytest.mark.parametrize(
    "name", ["model.layers.1.mlp.gate.expert_bias", "model.layers.0.self_attn.rotary_emb.inv_freq"]
)
@pytest.mark.parametrize("num_shards", [1, 2])
def test_two_tensors_of_copies_are_ignored(tmp_path, tensors, name, num_shards):
    extended = tensors | {name: torch.zeros(3)}
    assert_same_values(load_model(write_checkpoint(tmp_path, CONFIG, extended, num_shards)), tensors)


@pytest.mark.parametrize(
    "name",
    [
        "model.layers.0.self_attn.q_proj.bias",
        "model.layers.2.input_layernorm.weight",
        "model.layers.0.mlp.experts.4.up_proj.weight",
        "model.layers.0.mlp.shared_expert.up_proj.weight",
        "model.layers.0.mlp.gate.expert_bias2",
        "model.layers.0.mlp.gate.bias",
        "model.embed_tokens.weight",
        "lm_head.weight_scale",
    ],
)
@pytest.mark.parametrize("num_shards", [1, 2])
def test_unknown_tensor_is_named(tmp_path, tensors, name, num_shards):
    write_checkpoint(tmp_path, CONFIG, tensors | {name: torch.zeros(3)}, num_shards)
    with pytest.raises(CheckpointError, match=f"unknown tensor {name}"):
        load_model(tmp_path)


@pytest.mark.parametrize(
    "name", ["lm_head.weight", "model.norm.weight", "model.layers.0.self_attn.k_norm.weight", EXPERT, QUERY]
)
@pytest.mark.parametrize("num_shards", [1, 2])
def test_missing_tensor_is_named(tmp_path, tensors, name, num_shards):
    write_checkpoint(tmp_path, CONFIG, {key: t for key, t in tensors.items() if key != name}, num_shards)
    with pytest.raises(CheckpointError, match=f"tensor {name} is missing$"):
        load_model(tmp_path)


def test_missing_tensors_are_counted(tmp_path, tensors):
    write_checkpoint(tmp_path, CONFIG, {name: t for name, t in tensors.items() if ".layers.1." not in name})
    with pytest.raises(
        CheckpointError, match=r"tensor model\.layers\.1\.input_layernorm\.weight is missing and 20 more"
    ):
        load_model(tmp_path)


@pytest.mark.parametrize("name", ["lm_head.weight", "model.norm.weight", EXPERT, QUERY])
@pytest.mark.parametrize(
    "reshape",
    [
        lambda t: t[:-1].clone(),
        lambda t: t.unsqueeze(0),
        lambda t: torch.cat((t, t)),
        lambda t: t.flatten()[:1].clone(),
    ],
    ids=["shorter", "deeper", "doubled", "one number"],
)
def test_misshapen_tensor_is_named_with_both_shapes(tmp_path, tensors, name, reshape):
    misshapen = reshape(tensors[name])
    write_checkpoint(tmp_path, CONFIG, tensors | {name: misshapen})
    with pytest.raises(CheckpointError) as caught:
        load_model(tmp_path)
    assert name in str(caught.value)
    assert str(tuple(misshapen.shape)) in str(caught.value)
    assert str(tuple(tensors[name].shape)) in str(caught.value)


def test_transposed_tensor_is_refused(tmp_path, tensors):
    write_checkpoint(tmp_path, CONFIG, tensors | {EXPERT: tensors[EXPERT].T.contiguous()})
    with pytest.raises(CheckpointError, match=EXPERT):
        load_model(tmp_path)


def test_tensor_in_two_files_is_named(tmp_path, tensors):
    write_checkpoint(tmp_path, CONFIG, tensors, 2)
    second = "model-00002-of-00002.safetensors"
    names = json.loads((tmp_path / INDEX).read_text())["weight_map"]
    in_first = next(name for name, file in names.items() if file != second)
    doubled = {name: tensors[name] for name, file in names.items() if file == second or name == in_first}
    save_file(doubled, tmp_path / second)
    with pytest.raises(CheckpointError, match=f"tensor {in_first} stands in two files"):
        load_model(tmp_path)


@pytest.mark.parametrize("dtype", [torch.int32, torch.uint8])
@pytest.mark.parametrize("name", [EXPERT, "model.norm.weight"])
def test_tensor_of_whole_numbers_is_named(tmp_path, tensors, name, dtype):
    write_checkpoint(tmp_path, CONFIG, tensors | {name: torch.zeros(tensors[name].shape, dtype=dtype)})
    with pytest.raises(CheckpointError, match=f"tensor {name} holds {dtype}"):
        load_model(tmp_path)


@pytest.mark.parametrize("length", [0, 4, 100, -1])
@pytest.mark.parametrize("num_shards", [1, 2])
def test_file_cut_short_is_named(tmp_path, tensors, num_shards, length):
    write_checkpoint(tmp_path, CONFIG, tensors, num_shards)
    path = sorted(tmp_path.glob("*.safetensors"))[-1]
    os.truncate(path, length if length >= 0 else path.stat().st_size + length)
    with pytest.raises(CheckpointError, match=f"{path.name} is damaged or cut short"):
        load_model(tmp_path)


def test_file_that_is_no_safetensors_file_is_named(tmp_path, tensors):
    write_checkpoint(tmp_path, CONFIG, tensors)
    (tmp_path / "model.safetensors").write_bytes(b"\xff" * 1000)
    with pytest.raises(CheckpointError, match=r"model\.safetensors is damaged"):
        load_model(tmp_path)


def test_folder_without_weights_is_named(tmp_path):
    write_json(tmp_path / "config.json", CONFIG)
    with pytest.raises(CheckpointError, match=f"{tmp_path} holds neither model.safetensors nor {INDEX}"):
        load_model(tmp_path)


@pytest.mark.parametrize("where", ["../{}", "sub/{}", "{folder}/{}", "./{}", ".."])
def test_index_may_name_files_of_its_folder_only(tmp_path, tensors, where):
    folder = tmp_path / "checkpoint"
    write_checkpoint(folder, CONFIG, tensors)
    (folder / "sub").mkdir()
    for target in (tmp_path, folder / "sub"):
        write_weights(target, tensors)
    file_name = where.format("model.safetensors", folder=tmp_path)
    write_json(folder / INDEX, {"weight_map": dict.fromkeys(tensors, file_name)})
    with pytest.raises(CheckpointError, match="names a file outside its folder"):
        load_model(folder)


def test_missing_shard_is_named(tmp_path, tensors):
    write_checkpoint(tmp_path, CONFIG, tensors, 3)
    (tmp_path / "model-00002-of-00003.safetensors").unlink()
    with pytest.raises(CheckpointError, match=r"model-00002-of-00003\.safetensors is missing"):
        load_model(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "cannot be read"),
        ("{", "cannot be read"),
        ("[" * 100_000, "cannot be read"),
        ("[]", "does not hold a JSON object"),
        ("{}", "has no weight_map"),
        ('{"weight_map": {}}', "has no weight_map"),
        ('{"weight_map": ["model.safetensors"]}', "has no weight_map"),
        ('{"weight_map": {"lm_head.weight": 3}}', "has no weight_map"),
        ('{"weight_map": {"lm_head.weight": "pytorch_model.bin"}}', "names a file outside"),
    ],
)
def test_bad_index_is_named(tmp_path, tensors, text, message):
    write_checkpoint(tmp_path, CONFIG, tensors)
    (tmp_path / INDEX).write_text(text)
    with pytest.raises(CheckpointError, match=message) as caught:
        load_model(tmp_path)
    assert str(tmp_path / INDEX) in str(caught.value)


@pytest.mark.parametrize(
    "without", [(), ("model_type",), ("layer_types",), ("model_type", "layer_types"), ("architectures",)], ids=str
)
def test_copies_of_the_config_without_some_keys_are_read(tmp_path, without):
    full = published_config()
    write_json(tmp_path / "config.json", published_config(without))
    config = read_config(tmp_path)
    assert config.model_type == "maple"
    for name in ("layer_types", "hidden_size", "num_experts", "sliding_window", "eos_token_id", "vocab_size"):
        assert getattr(config, name) == full[name]


def test_a_null_model_type_is_none(tmp_path):
    write_json(tmp_path / "config.json", published_config(model_type=None))
    assert read_config(tmp_path).model_type == "maple"


def test_checkpoint_without_model_type_and_layer_types_loads(tmp_path, tensors):
    config = published_config(("model_type", "layer_types"), num_hidden_layers=4, num_experts=4)
    tensors = random_tensors(config)
    assert_same_values(load_model(write_checkpoint(tmp_path, config, tensors)), tensors)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (published_config(("model_type", "architectures")), "names neither"),
        (published_config(("architectures",), model_type=None), "names neither"),
        (published_config(model_type="qwen3_moe"), "that of qwen3_moe"),
        (published_config(architectures=["Qwen3MoeForCausalLM"]), "is not a Maple model's"),
        (published_config(("model_type",), architectures=["LlamaForCausalLM"]), "LlamaForCausalLM"),
        (published_config(hidden_act="gelu"), "hidden_act must be silu"),
        (published_config(hidden_size="2048"), "hidden_size"),
        (published_config(num_experts=None), "num_experts"),
        (published_config(layer_types=["full_attention"]), "layer"),
        (published_config(num_key_value_heads=3), "num_key_value_heads"),
        (published_config(rope_scaling={"rope_type": "yarn", "factor": 4.0}), "scaled RoPE"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_config_of_something_else_is_refused(tmp_path, config, message):
    write_json(tmp_path / "config.json", config)
    with pytest.raises(CheckpointError, match=message) as caught:
        read_config(tmp_path)
    assert str(tmp_path / "config.json") in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "is missing"),
        (b"", "cannot be read"),
        (b"{'a': 1}", "cannot be read"),
        (b'{"a": "\xff"}', "cannot be read"),
        (b"[1]", "does not hold a JSON object"),
        (b"null", "does not hold a JSON object"),
    ],
)
def test_file_that_is_no_json_object_is_named(tmp_path, content, message):
    path = tmp_path / "config.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CheckpointError, match=message) as caught:
        read_json(path)
    assert str(path) in str(caught.value)


def test_logging_of_one_matrix_in_many_layers_is_one_line_a_layer(tmp_path, tensors, caplog):
    names = [name for name in tensors if is_ternary_name(name) and name.endswith("0.up_proj.weight")]
    changed = tensors | {name: not_ternary(name, tensors) for name in names}
    with caplog.at_level(logging.WARNING):
        load_model(write_checkpoint(tmp_path, CONFIG, changed))
    assert len(caplog.records) == len(names) == 2
