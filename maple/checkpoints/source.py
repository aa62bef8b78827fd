"""Finds the folder a model's files lie in."""

import re
from pathlib import Path

from huggingface_hub import snapshot_download

from maple.errors import CheckpointError

_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
_FILES = ("*.json", "*.safetensors", "*.jinja")


def locate(model_path: str) -> Path:
    """A directory as it is; a Hub repository id (owner/name) downloaded or from the cache.

    Raises CheckpointError.
    """
    path = Path(model_path).expanduser()
    if path.is_dir():
        return path
    if path.exists() or not _HUB_ID.fullmatch(model_path) or model_path.startswith("."):
        raise CheckpointError(
            f"MAPLE_MODEL_PATH: {model_path} is neither a folder nor a Hub repository (owner/name)"
        )
    try:
        return Path(snapshot_download(model_path, allow_patterns=list(_FILES)))
    except Exception as error:  # network, authentication, disk: each library has its own
        reason = " ".join(str(error).split())
        raise CheckpointError(f"{model_path} could not be downloaded: {reason}") from error
