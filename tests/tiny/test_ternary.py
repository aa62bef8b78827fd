import torch

from maple.tiny.ternary import straight_through, to_ternary


def test_each_row_holds_one_bf16_scale():
    weight = torch.randn(3, 8, 64, generator=torch.Generator().manual_seed(0))

    ternary = to_ternary(weight)

    scale = ternary.abs().amax(-1, keepdim=True)
    assert ((ternary == 0) | (ternary.abs() == scale)).all()
    assert torch.equal(scale, scale.bfloat16().float())


def test_ternary_again_changes_nothing():
    ternary = to_ternary(torch.randn(8, 64, generator=torch.Generator().manual_seed(0)))

    assert torch.equal(to_ternary(ternary), ternary)


def test_gradients_pass_straight_through():
    weight = torch.randn(4, 16, requires_grad=True)

    straight_through(weight).sum().backward()

    assert torch.equal(weight.grad, torch.ones_like(weight))
