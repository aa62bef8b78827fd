import torch
from torch.nn import functional as F

from maple.kernels import ternary
from maple.kernels.layers import ExpertLinear, PackedExpertLinear, PackedLinear


def random_ternary(*shape):
    generator = torch.Generator().manual_seed(0)
    return torch.randint(-1, 2, shape, generator=generator) * torch.rand(*shape[:-1], 1, generator=generator)


def random_input(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(1))


def test_packed_linear_is_shaped_like_linear():
    weight = random_ternary(48, 32)
    layer = PackedLinear(*ternary.pack(weight))
    x = random_input(2, 3, 32)
    assert (layer.in_features, layer.out_features) == (32, 48)
    assert torch.allclose(layer(x), F.linear(x, weight), atol=1e-5)
    assert not list(layer.parameters())


def test_expert_linear_uses_the_expert_s_own_matrix():
    layer = ExpertLinear(3, 32, 48)
    layer.weight.data = random_ternary(3, 48, 32)
    x = random_input(5, 32)
    assert (layer.num_experts, layer.in_features, layer.out_features) == (3, 32, 48)
    for expert in range(3):
        assert torch.equal(layer(x, expert), F.linear(x, layer.weight[expert]))


def test_packed_expert_linear_uses_the_expert_s_own_matrix_packed_or_not():
    weight = random_ternary(3, 48, 32)
    dense = random_input(48, 32)
    layer = PackedExpertLinear(*ternary.pack(weight), unpacked={1: dense})
    x = random_input(5, 32)
    assert (layer.num_experts, layer.in_features, layer.out_features) == (3, 32, 48)
    assert [layer.is_packed(expert) for expert in range(3)] == [True, False, True]
    for expert, matrix in enumerate((weight[0], dense, weight[2])):
        assert torch.allclose(layer(x, expert), F.linear(x, matrix), atol=1e-5)


def test_packed_layers_move_and_save_like_any_other():
    layer = PackedExpertLinear(*ternary.pack(random_ternary(2, 48, 32)), unpacked={1: random_input(48, 32)})
    assert set(layer.state_dict()) == {"words", "scales", "unpacked.1"}
    assert {tensor.device.type for tensor in layer.to("meta").state_dict().values()} == {"meta"}
