"""Names and shapes of the published form."""

import pytest
import torch
from torch import nn

from maple.checkpoints.tensor_names import is_ignored, published_names, published_shapes
from maple.kernels.layers import ExpertLinear
from maple.model import MapleConfig, MapleForCausalLM
from tests import checkpoint_files
from tests.checkpoint_files import published_config


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("model.layers.0.mlp.gate.expert_bias", True),
        ("model.layers.1.self_attn.rotary_emb.inv_freq", True),
        ("model.rotary_emb.inv_freq", True),
        ("model.layers.0.mlp.gate.weight", False),
        ("model.layers.0.mlp.gate.expert_bias.weight", False),
    ],
)
def test_what_is_ignored(name, expected):
    assert is_ignored(name) == expected


@pytest.mark.parametrize("changes", [{}, {"num_hidden_layers": 1, "num_experts": 4, "vocab_size": 400}])
def test_the_shapes_follow_from_the_configuration(changes):
    config = published_config(**changes)
    assert published_shapes(MapleConfig(**config)) == checkpoint_files.published_shapes(config)


@pytest.mark.parametrize(
    ("module", "names"),
    [
        (nn.Linear(2, 2), ["a.3.b.weight"]),
        (nn.Embedding(2, 2), ["a.3.b.weight"]),
        (ExpertLinear(2, 3, 4), ["a.3.0.b.weight", "a.3.1.b.weight"]),
    ],
)
def test_the_tensors_of_a_module(module, names):
    assert published_names("a.3.b", module) == names


def test_the_network_takes_each_published_tensor_once():
    config = MapleConfig(**published_config())
    with torch.device("meta"):
        model = MapleForCausalLM(config)
    owners = [(path, module) for path, module in model.named_modules() if hasattr(module, "weight")]
    names = [name for path, module in owners for name in published_names(path, module)]
    assert sorted(names) == sorted(published_shapes(config))
