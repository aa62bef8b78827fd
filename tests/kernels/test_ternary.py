import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch.nn import functional as F

from maple.kernels import ternary


def words_of(signs):
    """The published layout, from its description: 16 codes a 32-bit word, least significant bits first."""
    words = []
    for row in signs:
        numbers = []
        for start in range(0, len(row), 16):
            numbers.append(sum((int(sign) + 1) * 4**place for place, sign in enumerate(row[start : start + 16])))
        words.append(numbers)
    return np.array(words, dtype=np.uint32)


def scales_of(bits):
    """bf16 numbers from their bits: every positive finite one, subnormal ones included."""
    return torch.tensor(bits, dtype=torch.int16).view(torch.bfloat16)


@st.composite
def ternary_matrices(draw):
    """Signs [out, in] and a positive bf16 scale for each row."""
    shape = draw(st.integers(1, 5)), 16 * draw(st.integers(1, 4))
    signs = draw(arrays(np.int8, shape, elements=st.sampled_from([-1, 0, 1])))
    return signs, scales_of(draw(st.lists(st.integers(1, 0x7F7F), min_size=shape[0], max_size=shape[0])))


@given(ternary_matrices(), st.sampled_from([0.0, -0.0]))
def test_every_element_is_packed_exactly(matrix, zero):
    signs, scales = matrix
    weight = torch.where(torch.from_numpy(signs) == 0, zero, torch.from_numpy(signs) * scales.float().unsqueeze(1))
    weight = weight.bfloat16()
    words, packed_scales = ternary.pack(weight)
    assert (words.dtype, packed_scales.dtype) == (torch.int32, torch.bfloat16)
    assert np.array_equal(words.numpy().view(np.uint32), words_of(signs))
    used = torch.from_numpy(signs).any(dim=1)
    assert torch.equal(packed_scales, torch.where(used, scales, 0))
    assert torch.equal(ternary.unpack_signs(words), torch.from_numpy(signs).float())
    assert torch.equal(ternary.unpack(words, packed_scales), weight.float())
    assert torch.equal(ternary.unpack(words, packed_scales, torch.bfloat16), weight)


@pytest.mark.parametrize(
    ("row", "word"),
    [
        ([1] + [0] * 15, 0b01_01_01_01_01_01_01_01_01_01_01_01_01_01_01_10),
        ([0] * 15 + [1], 0b10_01_01_01_01_01_01_01_01_01_01_01_01_01_01_01),
        ([0] * 15 + [-1], 0b00_01_01_01_01_01_01_01_01_01_01_01_01_01_01_01),
        ([-1, 1, 0, 1] + [-1] * 12, 0b10_01_10_00),
        ([0] * 16, 0x55555555),
        ([-0.0] * 16, 0x55555555),
        ([1] * 16, 0xAAAAAAAA),
        ([-1] * 16, 0),
    ],
)
def test_layout_of_a_word(row, word):
    words, _ = ternary.pack(torch.tensor([row], dtype=torch.bfloat16))
    assert words.numpy().view(np.uint32).tolist() == [[word]]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_scales_keep_the_source_s_type_and_value(dtype):
    weight = torch.tensor([[0.1, -0.1] * 8, [0.0] * 16, [-3.0] * 16], dtype=dtype)
    words, scales = ternary.pack(weight)
    assert scales.dtype == dtype
    assert torch.equal(scales, torch.tensor([0.1, 0, 3], dtype=dtype))
    assert torch.equal(ternary.unpack(words, scales), weight.float())


def test_stacked_matrices_are_packed_one_by_one():
    generator = torch.Generator().manual_seed(0)
    stack = torch.randint(-1, 2, (3, 5, 32), generator=generator) * torch.rand(3, 5, 1, generator=generator)
    words, scales = ternary.pack(stack)
    assert (words.shape, scales.shape) == ((3, 5, 2), (3, 5))
    for matrix, matrix_words, matrix_scales in zip(stack, words, scales, strict=True):
        assert torch.equal(matrix_words, ternary.pack(matrix)[0])
        assert torch.equal(ternary.unpack(matrix_words, matrix_scales), matrix)


def changed(value, row=1, column=5):
    weight = torch.tensor([[0.5, -0.5] * 16, [0.25, 0.0] * 16], dtype=torch.bfloat16)
    weight[row, column] = value
    return weight


NOT_TERNARY = {
    "a third magnitude": changed(0.125),
    "the next bf16 number": changed(0.251953125),
    "one larger than the rest": changed(-0.5),
    "one all but zero": changed(1e-30),
    "one NaN": changed(float("nan")),
    "one infinity": changed(float("inf")),
    "one negative infinity": changed(float("-inf")),
    "NaN only": torch.full((2, 16), float("nan")),
    "infinity only": torch.full((2, 16), float("inf")),
    "rows of 15": torch.ones(2, 15),
    "rows of 24": torch.ones(2, 24),
    "rows of 8": torch.ones(2, 8),
    "dense": torch.randn(4, 16, generator=torch.Generator().manual_seed(0)),
}


@pytest.mark.parametrize("weight", NOT_TERNARY.values(), ids=NOT_TERNARY)
def test_what_is_not_ternary_is_not_packed(weight):
    assert ternary.pack(weight) is None


def test_unchanged_matrix_is_packed():
    assert ternary.pack(changed(0.25)) is not None


@pytest.mark.parametrize("shape", [(64,), (1, 64), (7, 64), (2, 3, 64)], ids=str)
def test_linear_is_the_product_with_the_dense_matrix(shape):
    generator = torch.Generator().manual_seed(0)
    weight = torch.randint(-1, 2, (48, 64), generator=generator) * torch.rand(48, 1, generator=generator).bfloat16()
    x = torch.randn(shape, generator=generator)
    result = ternary.linear(x, *ternary.pack(weight))
    assert result.dtype == torch.float32
    assert torch.allclose(result.double(), F.linear(x.double(), weight.double()), atol=1e-5)


def test_linear_rounds_once_whatever_the_input():
    """256 + 1 is no bf16 number, nor is three times that; rounding between them would give 768."""
    weight = torch.tensor([[3.0, 3.0] + [0.0] * 14], dtype=torch.bfloat16)
    x = torch.zeros(1, 16, dtype=torch.bfloat16)
    x[0, 0], x[0, 1] = 256, 1
    result = ternary.linear(x, *ternary.pack(weight))
    assert (result.dtype, float(result)) == (torch.bfloat16, 772)
