"""The packed 2-bit form of a ternary matrix, and the products with it.

Layout (that of the published MLX files): 16 codes a 32-bit word, least significant bits first, code = sign + 1;
one scale a row. The words are held as int32, since torch computes with no unsigned 32-bit type.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

CODES_PER_WORD = 16

# Row b holds the four signs of byte b, low bits first. Code 3 is not used: its sign would be 2.
_SIGNS_OF_BYTE = ((torch.arange(256).unsqueeze(1) >> torch.tensor([0, 2, 4, 6])) & 3).float() - 1


def pack(weight: Tensor) -> tuple[Tensor, Tensor] | None:
    """Packs matrices whose rows are each {-a, 0, +a}; exact, or not at all.

    weight: [..., out, in]. Returns (words int32 [..., out, in / 16], scales [..., out] in weight's dtype),
    or None if a row is not ternary or `in` is no multiple of 16. An all-zero row has scale 0.
    """
    if weight.shape[-1] % CODES_PER_WORD:
        return None
    magnitude = weight.abs()
    scales = magnitude.amax(dim=-1)
    if not bool(((magnitude == scales.unsqueeze(-1)) | (magnitude == 0)).all()) or not scales.isfinite().all():
        return None
    codes = weight.sign().to(torch.int32) + 1
    groups = codes.unflatten(-1, (-1, CODES_PER_WORD))
    words = torch.zeros(groups.shape[:-1], dtype=torch.int32, device=weight.device)
    for position in range(CODES_PER_WORD):
        words |= groups[..., position] << (2 * position)
    return words, scales


def unpack_signs(words: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """words int32 [..., out, in / 16] -> signs -1, 0 or 1 [..., out, in] in dtype."""
    table = _SIGNS_OF_BYTE.to(device=words.device, dtype=dtype)
    octets = words.view(torch.uint8).to(torch.int32)
    return F.embedding(octets, table).flatten(-2)


def unpack(words: Tensor, scales: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """The matrix itself, [..., out, in]: exactly what was packed, if dtype holds the scales."""
    return unpack_signs(words, dtype) * scales.to(dtype).unsqueeze(-1)


def linear(x: Tensor, words: Tensor, scales: Tensor) -> Tensor:
    """x [..., in] times the packed matrix [out, in], computed in float32; returns [..., out] in x's dtype."""
    product = F.linear(x.float(), unpack_signs(words)) * scales.float()
    return product.to(x.dtype)
