"""The published Hugging Face form: config.json and bf16 safetensors, one file or shards with an index.

Reading is strict: an unknown, missing, doubled or misshapen tensor is an error that names it. Matrices are
packed as they are read, so that the float form of the whole model is never in memory.
"""

import json
import logging
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from maple.checkpoints.tensor_names import is_ignored, published_names, published_shapes
from maple.errors import CheckpointError
from maple.kernels import ternary
from maple.kernels.layers import ExpertLinear, PackedExpertLinear, PackedLinear
from maple.model import MapleConfig, MapleForCausalLM

INDEX_NAME = "model.safetensors.index.json"
WEIGHTS_NAME = "model.safetensors"
NUMBERS = (torch.bfloat16, torch.float16, torch.float32, torch.float64)

logger = logging.getLogger(__name__)


def read_config(directory: Path) -> MapleConfig:
    """Reads config.json; copies without model_type or layer_types are understood. Raises CheckpointError."""
    fields = read_json(directory / "config.json")
    architectures = fields.get("architectures") or []
    if fields.get("model_type") not in (None, "maple") or architectures not in ([], ["MapleForCausalLM"]):
        found = fields.get("model_type") or architectures
        raise CheckpointError(f"{directory / 'config.json'} is not a Maple model's but that of {found}")
    if fields.get("model_type") is None and not architectures:
        raise CheckpointError(f"{directory / 'config.json'} names neither model_type maple nor MapleForCausalLM")
    try:
        return MapleConfig.from_dict(fields | {"model_type": "maple"})
    except Exception as error:  # Transformers raises errors of many kinds for bad fields
        reason = " ".join(str(error).split())
        raise CheckpointError(f"{directory / 'config.json'} is not usable: {reason}") from error


def read_json(path: Path) -> dict:
    """Reads a file holding a JSON object. Raises CheckpointError."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CheckpointError(f"{path} is missing") from None
    except (OSError, ValueError, RecursionError) as error:
        raise CheckpointError(f"{path} cannot be read: {error}") from None
    if not isinstance(value, dict):
        raise CheckpointError(f"{path} does not hold a JSON object")
    return value


def load_model(
    directory: Path,
    *,
    dtype: torch.dtype = torch.float32,
    device: str = "cpu",
    pack: bool = True,
    on_progress: Callable[[float], None] = lambda fraction: None,
) -> MapleForCausalLM:
    """Builds the network from the files in a directory.

    dtype holds for what is not packed, except norms and router, which are float32. on_progress gets fractions
    from 0 to 1. Raises CheckpointError.
    """
    config = read_config(directory)
    with torch.device("meta"):
        model = MapleForCausalLM(config)
    with ExitStack() as open_files:
        shards = [open_files.enter_context(_open_shard(path)) for path in _weight_files(directory)]
        readers = _index_tensors(shards, config)
        _fill(model, readers, dtype=dtype, device=device, pack=pack, on_progress=on_progress)
    return model.eval().requires_grad_(False)


def _weight_files(directory: Path) -> list[Path]:
    if not (directory / INDEX_NAME).exists():
        if not (directory / WEIGHTS_NAME).exists():
            raise CheckpointError(f"{directory} holds neither {WEIGHTS_NAME} nor {INDEX_NAME}")
        return [directory / WEIGHTS_NAME]
    weight_map = read_json(directory / INDEX_NAME).get("weight_map")
    if not isinstance(weight_map, dict) or {type(name) for name in weight_map.values()} != {str}:
        raise CheckpointError(f"{directory / INDEX_NAME} has no weight_map from tensors to files")
    names = sorted(set(weight_map.values()))
    for name in names:
        if Path(name).name != name or not name.endswith(".safetensors"):
            raise CheckpointError(f"{directory / INDEX_NAME} names a file outside its folder: {name!r}")
        if not (directory / name).exists():
            raise CheckpointError(f"{directory / name} is missing, though the index names it")
    return [directory / name for name in names]


def _open_shard(path: Path):
    try:
        return safe_open(path, framework="pt")
    except (SafetensorError, OSError) as error:
        raise CheckpointError(f"{path} is damaged or cut short: {error}") from None


def _index_tensors(shards: list, config: MapleConfig) -> dict[str, Callable[[], Tensor]]:
    """Maps each published name to its reader, once all names and shapes are right."""
    expected = published_shapes(config)
    readers = {}
    for shard in shards:
        for name in shard.keys():  # noqa: SIM118 - not a dict
            if is_ignored(name):
                continue
            if name not in expected:
                raise CheckpointError(f"unknown tensor {name}: this is not the Maple network as published")
            if name in readers:
                raise CheckpointError(f"tensor {name} stands in two files")
            shape = tuple(shard.get_slice(name).get_shape())
            if shape != expected[name]:
                raise CheckpointError(f"tensor {name} has shape {shape}, the config asks for {expected[name]}")
            readers[name] = _reader(shard, name)
    missing = sorted(expected.keys() - readers.keys())
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise CheckpointError(f"tensor {missing[0]} is missing{more}")
    return readers


def _reader(shard, name: str) -> Callable[[], Tensor]:
    def read() -> Tensor:
        tensor = shard.get_tensor(name)
        if tensor.dtype not in NUMBERS:
            raise CheckpointError(f"tensor {name} holds {tensor.dtype}, not bfloat16, float16, float32 or float64")
        return tensor

    return read


def _fill(model: MapleForCausalLM, readers: dict, *, dtype, device, pack: bool, on_progress) -> None:
    num_read = 0
    for path, module in list(model.named_modules()):
        if "weight" not in module._parameters:
            continue
        names = published_names(path, module)
        if isinstance(module, ExpertLinear):
            filled = _read_experts(module, names, readers, dtype, pack)
        elif isinstance(module, nn.Linear) and path != "lm_head":
            filled = _read_linear(module, names[0], readers, dtype, pack)
        else:
            is_float32 = not isinstance(module, (nn.Linear, nn.Embedding))  # router and norms
            filled = _with_weight(module, readers[names[0]]().to(torch.float32 if is_float32 else dtype))
        model.set_submodule(path, filled.to(device))
        num_read += len(names)
        on_progress(num_read / len(readers))


def _read_linear(module: nn.Linear, name: str, readers: dict, dtype, pack: bool) -> nn.Module:
    weight = readers[name]()
    packed = ternary.pack(weight) if pack else None
    if packed is not None:
        return PackedLinear(*packed)
    if pack:
        logger.warning("%s cannot be held at 2 bits exactly and stays as it is", name)
    return _with_weight(module, weight.to(dtype))


def _read_experts(module: ExpertLinear, names: list[str], readers: dict, dtype, pack: bool) -> nn.Module:
    if not pack:
        return _with_weight(module, torch.stack([readers[name]().to(dtype) for name in names]))
    shape = module.num_experts, module.out_features, module.in_features
    words = torch.zeros(*shape[:2], shape[2] // ternary.CODES_PER_WORD, dtype=torch.int32)
    scales, unpacked = None, {}
    for expert, name in enumerate(names):
        weight = readers[name]()
        packed = ternary.pack(weight)
        if packed is None:
            unpacked[expert] = weight.to(dtype)
            continue
        words[expert] = packed[0]
        scales = torch.zeros(shape[:2], dtype=weight.dtype) if scales is None else scales
        scales = scales.to(torch.promote_types(scales.dtype, weight.dtype))
        scales[expert] = packed[1]
    if unpacked:
        more = f" ({len(unpacked)} experts of {len(names)})" if len(unpacked) > 1 else ""
        logger.warning("%s cannot be held at 2 bits exactly and stays as it is%s", names[min(unpacked)], more)
    if scales is None:
        return _with_weight(module, torch.stack(list(unpacked.values())))
    return PackedExpertLinear(words, scales, unpacked)


def _with_weight(module: nn.Module, weight: Tensor) -> nn.Module:
    module.weight = nn.Parameter(weight, requires_grad=False)
    return module
