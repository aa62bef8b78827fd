import pytest
import torch

from maple.model import MapleConfig, MapleForCausalLM
from maple.model.cache import MapleCache, visible_keys
from tests.checkpoint_files import published_config


def config_of(**changes):
    return MapleConfig(
        **published_config(without=("architectures", "auto_map", "torch_dtype", "model_type"), **changes)
    )


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    return MapleForCausalLM(config_of(sliding_window=8)).eval()


def fill(model, chunks):
    cache = MapleCache(model.config)
    with torch.no_grad():
        for chunk in chunks:
            model(torch.arange(chunk).unsqueeze(0), past_key_values=cache)
    return cache


@pytest.mark.parametrize(
    "chunks", [[3], [8], [9], [10], [50], [20, 30], [7, 2, 1], [1] * 12, [30, 1, 1, 1]], ids=lambda chunks: str(chunks)
)
def test_sliding_layers_hold_no_more_than_the_window(model, chunks):
    cache, total = fill(model, chunks), sum(chunks)
    assert cache.get_seq_length() == total
    for layer, layer_type in zip(cache.layers, model.config.layer_types, strict=True):
        num_held = min(total, 8) if layer_type == "sliding_attention" else total
        assert layer.keys.shape == layer.values.shape == (1, 2, num_held, 16)


@pytest.mark.parametrize("chunks", [[50], [47, 3], [10] * 5])
def test_sliding_layers_hold_the_latest_keys(model, chunks):
    wide = MapleForCausalLM(config_of(sliding_window=100)).eval()
    wide.load_state_dict(model.state_dict())
    first, all_keys = fill(model, chunks).layers[0], fill(wide, chunks).layers[0]  # layer 0: before any attention
    assert torch.allclose(first.keys, all_keys.keys[..., -8:, :], atol=1e-6)
    assert torch.allclose(first.values, all_keys.values[..., -8:, :], atol=1e-6)


@pytest.mark.parametrize(
    ("is_sliding", "num_past", "num_new", "first_seen"),
    [  # first_seen: the first position the last new token sees
        (True, 0, 513, 0),
        (True, 0, 514, 1),
        (True, 0, 600, 87),
        (True, 100, 413, 0),
        (True, 512, 2, 1),
        (True, 5000, 600, 5087),
        (False, 0, 600, 0),
        (False, 5000, 600, 0),
    ],
)
def test_published_window_is_513_positions(is_sliding, num_past, num_new, first_seen):
    visible = visible_keys(MapleConfig(), is_sliding, num_past, num_new, None, "cpu")[0, 0]
    num_held = min(num_past, 512) if is_sliding else num_past
    assert visible.shape == (num_new, num_held + num_new)
    first_held = num_past - num_held
    positions = torch.arange(first_held, num_past + num_new)
    for row, query in ((0, num_past), (num_new - 1, num_past + num_new - 1)):
        low = max(0, query - 512) if is_sliding else 0
        assert torch.equal(visible[row], (positions >= low) & (positions <= query))
    assert int(positions[visible[-1]].min()) == first_seen


@pytest.mark.parametrize("is_sliding", [True, False])
def test_one_token_sees_all_that_is_held(is_sliding):
    assert visible_keys(config_of(), is_sliding, 40, 1, None, "cpu") is None


def test_padding_is_not_seen_but_by_itself():
    mask = torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]])
    visible = visible_keys(config_of(sliding_window=2), True, 0, 5, mask, "cpu")
    assert visible[0, 0].int().tolist() == [
        [1, 0, 0, 0, 0],
        [0, 1, 0, 0, 0],
        [0, 0, 1, 0, 0],
        [0, 0, 1, 1, 0],
        [0, 0, 1, 1, 1],
    ]
    assert visible[1, 0, 4].int().tolist() == [0, 0, 1, 1, 1]


def test_padding_of_the_past_is_cut_with_the_past():
    mask = torch.tensor([[0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 0, 1]])
    visible = visible_keys(config_of(sliding_window=3), True, 5, 1, mask, "cpu")
    assert visible[:, 0].int().tolist() == [[[0, 1, 1, 1]], [[0, 0, 0, 1]]]
