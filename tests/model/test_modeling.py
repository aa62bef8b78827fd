import functools
import json
import math

import numpy as np
import pytest
import torch
from safetensors import safe_open
from torch.nn import functional as F
from transformers import AutoConfig, AutoModelForCausalLM

from maple.checkpoints.huggingface import load_model
from maple.model import MapleConfig, MapleForCausalLM
from maple.model.cache import MapleCache
from maple.model.modeling import MapleExperts, MapleRMSNorm, MapleRouter, apply_rotary, rotary_angles
from tests.checkpoint_files import published_config, random_tensors, write_checkpoint
from tests.reference import Reference

LENGTH = 50  # more than six windows of 8
FULL_FIRST = ["full_attention", "sliding_attention", "sliding_attention", "full_attention", "sliding_attention"]
VARIANTS = {
    "published": published_config(),
    "rope on every layer": published_config(nope_on_global_attention=False),
    "other layer types": published_config(layer_types=FULL_FIRST, sliding_window=5),
    "a quarter of each head turned": published_config(partial_rotary_factor=0.25, rope_theta=500),
    "one key head, one expert": published_config(num_key_value_heads=1, num_experts_per_tok=1),
}
IDS = np.random.default_rng(1).integers(0, 352, LENGTH)


@pytest.fixture(autouse=True)
def _seeded_and_without_gradients():
    torch.manual_seed(0)
    with torch.no_grad():
        yield


@functools.cache
def tensors_of(variant):
    return random_tensors(VARIANTS[variant], seed=7)


@functools.cache
def reference_of(variant):
    """The reference after its pass over IDS, and the logits it gave."""
    reference = Reference({name: t.float().numpy() for name, t in tensors_of(variant).items()}, VARIANTS[variant])
    return reference, reference.logits(IDS)


@pytest.fixture(scope="module")
def model_of(tmp_path_factory):
    @functools.cache
    def directory_of(variant):
        return write_checkpoint(tmp_path_factory.mktemp("model"), VARIANTS[variant], tensors_of(variant))

    @functools.cache
    def build(variant, held):
        if held == "transformers":
            return AutoModelForCausalLM.from_pretrained(directory_of(variant), dtype=torch.float32).eval()
        return load_model(directory_of(variant), pack=held == "packed")

    return build


def feed(model, ids, chunk, cache=None):
    """The logits of ids given to the model chunk by chunk, and the cache after them."""
    cache = MapleCache(model.config) if cache is None else cache
    outputs = [
        model(part.unsqueeze(0), past_key_values=cache, use_cache=True) for part in torch.as_tensor(ids).split(chunk)
    ]
    return torch.cat([output.logits for output in outputs], dim=1)[0].numpy(), cache


def assert_agrees(logits, expected):
    assert logits.shape == expected.shape
    assert np.abs(logits - expected).max() < 1e-4


@pytest.mark.parametrize("variant", VARIANTS)
def test_reference_pass_is_not_trivial(variant):
    reference, logits = reference_of(variant)
    seen, config = reference.seen, VARIANTS[variant]
    assert 0.05 < seen["gates_clamped"] / seen["gates"] < 0.3
    assert seen["ups_clamped_above"] > 0.05 * seen["gates"]
    assert seen["ups_clamped_below"] > 0.05 * seen["gates"]
    assert all(len(experts) > config["num_experts_per_tok"] for experts in seen["experts"])
    assert 0.2 < np.mean(seen["top_k_mass"]) < 0.9
    assert min(seen["margins"]) > 1e-5  # else float32 could choose other experts, and rightly
    assert logits.std() > 1


@pytest.mark.parametrize("held", ["packed", "dense", "transformers"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_one_shot_agrees_with_the_reference(model_of, variant, held):
    logits = model_of(variant, held)(torch.as_tensor(IDS[None])).logits
    assert_agrees(logits[0].numpy(), reference_of(variant)[1])


@pytest.mark.parametrize("length", [1, 2, 7, 8, 9, 10, 17, 24, 25])
def test_prompts_of_many_lengths_agree_with_the_reference(model_of, length):
    logits = model_of("published", "packed")(torch.as_tensor(IDS[None, :length])).logits
    assert_agrees(logits[0].numpy(), reference_of("published")[1][:length])


# 1 is token by token; 8 is the window, 9 the window and the query itself; 24 is longer than any window.
@pytest.mark.parametrize("chunk", [1, 3, 8, 9, 10, 24])
@pytest.mark.parametrize("held", ["packed", "dense"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_chunks_agree_with_the_reference(model_of, variant, held, chunk):
    logits, _ = feed(model_of(variant, held), IDS, chunk)
    assert_agrees(logits, reference_of(variant)[1])


@pytest.mark.parametrize("held", ["packed", "dense"])
def test_chunks_of_mixed_sizes_agree_with_the_reference(model_of, held):
    logits, _ = feed(model_of("published", held), IDS, (1, 1, 12, 1, 2, 20, 1, 1, 9, 1, 1))
    assert_agrees(logits, reference_of("published")[1])


def test_whatever_cache_is_asked_for_is_made(model_of):
    model = model_of("published", "packed")
    first = model(torch.as_tensor(IDS[None, :20]), use_cache=True)
    second = model(torch.as_tensor(IDS[None, 20:]), past_key_values=first.past_key_values)
    without = model(torch.as_tensor(IDS[None, :20]))
    assert isinstance(first.past_key_values, MapleCache)
    assert without.past_key_values is None
    assert_agrees(second.logits[0].numpy(), reference_of("published")[1][20:])


@pytest.mark.parametrize("kept", [1, 3, 50])
def test_logits_to_keep_are_the_last_ones(model_of, kept):
    model = model_of("published", "packed")
    logits = model(torch.as_tensor(IDS[None]), logits_to_keep=kept).logits
    assert_agrees(logits[0].numpy(), reference_of("published")[1][-kept:])


def one_layer_model(tmp_path, window):
    """A network whose last logits depend on the keys the one sliding layer sees, and on nothing before them."""
    config = published_config(num_hidden_layers=1, layer_types=["sliding_attention"], sliding_window=window)
    return load_model(write_checkpoint(tmp_path, config, random_tensors(config, seed=3)))


@pytest.mark.parametrize(("window", "chunk"), [(512, 600), (512, 100), (8, 600), (8, 12), (8, 9), (8, 1)])
def test_key_at_distance_sliding_window_is_the_last_one_seen(tmp_path, window, chunk):
    model = one_layer_model(tmp_path, window)
    ids = np.random.default_rng(2).integers(0, 352, window + 5)
    last = len(ids) - 1
    logits = feed(model, ids, chunk)[0][-1]

    def change(position):
        changed = ids.copy()
        changed[position] = (ids[position] + 1) % 352
        return np.abs(feed(model, changed, chunk)[0][-1] - logits).max()

    assert change(last - window) > 1e-3
    assert change(last - window - 1) < 1e-6


def padded_batch(lengths):
    """Rows of IDS' first tokens, padded on the left: ids and mask."""
    longest = max(lengths)
    ids = torch.zeros(len(lengths), longest, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, length in enumerate(lengths):
        ids[row, longest - length :] = torch.as_tensor(IDS[:length])
        mask[row, longest - length :] = 1
    return ids, mask


@pytest.mark.parametrize("counted", [True, False], ids=["positions given", "positions left out"])
@pytest.mark.parametrize("chunk", [1, 4, 11, 40])
@pytest.mark.parametrize("held", ["packed", "dense"])
def test_left_padding_is_not_seen(model_of, held, chunk, counted):
    model, expected = model_of("rope on every layer", held), reference_of("rope on every layer")[1]
    lengths = (30, 40, 3)
    ids, mask = padded_batch(lengths)
    positions = (mask.cumsum(-1) - 1).clamp(min=0)
    cache = MapleCache(model.config)
    parts = []
    for start in range(0, ids.shape[1], chunk):
        stop = min(start + chunk, ids.shape[1])
        inputs = {"position_ids": positions[:, start:stop]} if counted else {}
        parts.append(model(ids[:, start:stop], attention_mask=mask[:, :stop], past_key_values=cache, **inputs).logits)
    logits = torch.cat(parts, dim=1)
    assert logits.isfinite().all()
    for row, length in enumerate(lengths):
        assert_agrees(logits[row, -length:].numpy(), expected[:length])


def greedy_by_hand(model, ids, num_tokens):
    logits, cache = feed(model, ids, 16)
    chosen = [int(logits[-1].argmax())]
    while len(chosen) < num_tokens:
        logits, cache = feed(model, chosen[-1:], 1, cache)
        chosen.append(int(logits[-1].argmax()))
    return chosen


GREEDY = {"do_sample": False, "max_new_tokens": 20, "min_new_tokens": 20, "eos_token_id": None, "pad_token_id": 0}


@pytest.mark.parametrize("use_cache", [True, False])
@pytest.mark.parametrize("held", ["packed", "transformers"])
def test_generate_equals_stepping_by_hand(model_of, held, use_cache):
    model = model_of("published", held)
    generated = model.generate(torch.as_tensor(IDS[None, :30]), **GREEDY, use_cache=use_cache)
    chosen = greedy_by_hand(model_of("published", "packed"), IDS[:30], 20)
    assert generated[0, 30:].tolist() == chosen
    assert len(set(chosen)) > 3


def test_generated_tokens_are_the_reference_s_best(model_of):
    generated = model_of("published", "packed").generate(torch.as_tensor(IDS[None, :30]), **GREEDY)[0]
    expected = Reference(
        {name: t.float().numpy() for name, t in tensors_of("published").items()}, VARIANTS["published"]
    ).logits(generated.numpy())
    assert generated[30:].tolist() == expected[29:-1].argmax(-1).tolist()


def test_generate_makes_the_bounded_cache(model_of):
    generated = model_of("published", "packed").generate(
        torch.as_tensor(IDS[None, :30]), **GREEDY, return_dict_in_generate=True
    )
    assert isinstance(generated.past_key_values, MapleCache)


def test_generate_on_a_padded_batch_equals_each_row_alone(model_of):
    model = model_of("rope on every layer", "packed")
    ids, mask = padded_batch((25, 40, 3))
    generated = model.generate(ids, attention_mask=mask, **GREEDY)
    for row, length in enumerate((25, 40, 3)):
        assert generated[row, 40:].tolist() == greedy_by_hand(model, IDS[:length], 20)


def tensor_names(directory):
    names = set()
    for path in directory.glob("*.safetensors"):
        with safe_open(path, "pt") as file:
            names.update(file.keys())
    return names


@pytest.mark.parametrize("shard_size", ["1GB", "100KB"])
def test_saved_model_has_the_published_names_and_loads_again(model_of, tmp_path, shard_size):
    model = model_of("published", "transformers")
    model.save_pretrained(tmp_path, max_shard_size=shard_size)
    assert (tmp_path / "model.safetensors.index.json").exists() == (shard_size == "100KB")
    assert tensor_names(tmp_path) == set(tensors_of("published"))
    saved_config = json.loads((tmp_path / "config.json").read_text())
    assert saved_config["model_type"] == "maple"
    assert saved_config["architectures"] == ["MapleForCausalLM"]

    loaded, info = AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32, output_loading_info=True)
    assert isinstance(loaded, MapleForCausalLM)
    assert not any(info[kind] for kind in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    for name, tensor in model.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], tensor), name
    assert_agrees(feed(load_model(tmp_path), IDS, 20)[0], reference_of("published")[1])


def test_code_in_the_checkpoint_is_never_run(tmp_path):
    write_checkpoint(tmp_path)
    for name in ("configuration_maple.py", "modeling_maple.py"):
        (tmp_path / name).write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\nraise RuntimeError\n")
    assert isinstance(AutoConfig.from_pretrained(tmp_path), MapleConfig)
    assert isinstance(AutoModelForCausalLM.from_pretrained(tmp_path), MapleForCausalLM)
    load_model(tmp_path)
    assert not (tmp_path / "ran").exists()


def test_loss_is_the_cross_entropy_of_the_next_token(model_of):
    ids = torch.as_tensor(IDS[None])
    loss = model_of("published", "dense")(ids, labels=ids).loss
    logits = torch.as_tensor(reference_of("published")[1][:-1])
    assert float(loss) == pytest.approx(float(F.cross_entropy(logits, ids[0, 1:])), abs=1e-4)


def test_new_model_is_initialised():
    config = MapleConfig.from_dict(published_config())
    for name, weight in MapleForCausalLM(config).state_dict().items():
        if "norm" in name:
            assert (weight == 1).all(), name
        else:
            assert float(weight.std()) == pytest.approx(config.initializer_range, rel=0.1), name


def test_norm_is_computed_and_weighted_in_float32():
    norm = MapleRMSNorm(64, 1e-6)
    norm.weight.data = 0.5 + torch.rand(64)
    x = (torch.randn(10, 64) * 1e-3).bfloat16()  # so small that eps counts
    wide = x.double()
    expected = wide / (wide.square().mean(-1, keepdim=True) + 1e-6).sqrt() * norm.weight.double()
    result = norm(x)
    assert result.dtype == torch.bfloat16
    assert torch.equal(result, expected.float().bfloat16())


def test_norm_does_not_overflow_in_float16():
    x = torch.full((1, 16), 60000.0, dtype=torch.float16)
    assert torch.equal(MapleRMSNorm(16, 1e-6).half()(x), torch.ones(1, 16, dtype=torch.float16))


def test_router_works_in_float32():
    router = MapleRouter(MapleConfig(hidden_size=64, num_experts=32, num_experts_per_tok=4))
    router.weight.data = torch.randn(32, 64) / 8
    x = torch.randn(20, 64).bfloat16()
    weights, experts = router(x)
    assert weights.dtype == torch.float32
    expected = x.double() @ router.weight.double().T
    best, chosen = expected.softmax(-1).topk(4)
    assert torch.equal(experts, chosen)
    assert torch.allclose(weights.double(), best / best.sum(-1, keepdim=True), atol=1e-6)


def test_expert_outputs_are_summed_in_float32():
    """Two outputs that cancel but for a part in 600, which bfloat16 would lose."""
    experts = MapleExperts(MapleConfig(hidden_size=16, moe_intermediate_size=16, num_experts=2, num_experts_per_tok=2))
    experts = experts.bfloat16()
    experts.gate_proj.weight.data.fill_(1)
    experts.up_proj.weight.data.fill_(1)
    experts.down_proj.weight.data.fill_(0)
    experts.down_proj.weight.data[0, :, 0] = 64
    experts.down_proj.weight.data[1, :, 0] = -64
    x = torch.zeros(1, 16, dtype=torch.bfloat16)
    x[0, 0] = 4
    hidden = float((F.silu(torch.tensor(4.0)) * 4).bfloat16()) * 64
    weights = torch.tensor([[0.5004, 0.4996]])
    result = experts(x, weights, torch.tensor([[0, 1]]))
    assert float(result[0, 0]) == pytest.approx(hidden * 0.0008, rel=0.01)


@pytest.mark.parametrize(
    ("gate", "up", "expected"),
    [
        (3, 2, 3 / (1 + math.exp(-3)) * 2),
        (8, 2, 7 / (1 + math.exp(-7)) * 2),  # the gate is clamped above,
        (-9, 2, -9 / (1 + math.exp(9)) * 2),  # but not below
        (3, 9, 3 / (1 + math.exp(-3)) * 7),
        (3, -9, 3 / (1 + math.exp(-3)) * -7),
        (50, -50, 7 / (1 + math.exp(-7)) * -7),
    ],
)
def test_swiglu_is_clamped(gate, up, expected):
    experts = MapleExperts(MapleConfig(hidden_size=1, moe_intermediate_size=1, num_experts=1, num_experts_per_tok=1))
    experts.gate_proj.weight.data.fill_(gate)
    experts.up_proj.weight.data.fill_(up)
    experts.down_proj.weight.data.fill_(1)
    result = experts(torch.ones(1, 1), torch.ones(1, 1), torch.zeros(1, 1, dtype=torch.long))
    assert float(result) == pytest.approx(expected, rel=1e-5)


def test_each_chosen_expert_s_weights_are_used_once(monkeypatch):
    config = MapleConfig(hidden_size=16, moe_intermediate_size=16, num_experts=6, num_experts_per_tok=2)
    experts = MapleExperts(config)
    calls = []
    monkeypatch.setattr(experts, "_expert", lambda x, expert: calls.append((expert, len(x))) or x)
    chosen = torch.tensor([[5, 1], [1, 3], [5, 1]])
    experts(torch.randn(3, 16), torch.rand(3, 2), chosen)
    assert sorted(calls) == [(1, 3), (3, 1), (5, 2)]


def test_published_rope_turns_the_first_64_of_128_dimensions_in_pairs_32_apart():
    config = MapleConfig()
    x = torch.randn(1, 1, 1, 128, dtype=torch.float64)
    position = 777
    turned = apply_rotary(x, *rotary_angles(config, torch.tensor([[position]])))[0, 0, 0]
    x = x[0, 0, 0]
    for i in range(32):
        angle = position * 10000 ** (-i / 32)
        pair = complex(x[i], x[i + 32]) * complex(math.cos(angle), math.sin(angle))
        assert complex(turned[i], turned[i + 32]) == pytest.approx(pair, abs=1e-3)
    assert torch.equal(turned[64:], x[64:])
