import torch

from maple.tiny.muon import Muon, orthogonal


def test_updates_become_nearly_orthogonal():
    matrices = torch.randn(3, 16, 32, generator=torch.Generator().manual_seed(0))

    values = torch.linalg.svdvals(orthogonal(matrices))

    assert values.min() > 0.3
    assert values.max() < 1.4


def test_it_descends():
    torch.manual_seed(0)
    wanted = torch.randn(2, 8, 16)
    weight = torch.zeros(2, 8, 16, requires_grad=True)
    optimizer = Muon([weight], lr=0.05)

    for _ in range(100):
        loss = (weight - wanted).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    assert loss < 0.1
