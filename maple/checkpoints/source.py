"""Finds the folder a model's files lie in."""

import os
import re
from pathlib import Path

from huggingface_hub import snapshot_download

from maple.errors import CheckpointError
from maple.tiny import MODEL_PATH

_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
_FILES = ("*.json", "*.safetensors", "*.jinja")


def locate(model_path: str) -> Path:
    """The folder of "tiny", the model in the box; a directory as it is; a Hub repository id (owner/name)
    downloaded or from the cache. Raises CheckpointError.
    """
    if model_path == "tiny":
        return MODEL_PATH
    path = Path(os.path.expanduser(model_path))
    if path.is_dir():
        return path
    if path.exists() or not _HUB_ID.fullmatch(model_path) or model_path.startswith("."):
        raise CheckpointError(
            f"MAPLE_MODEL_PATH: {model_path} is no folder, no Hub repository (owner/name), and not tiny"
        )
    try:
        return Path(snapshot_download(model_path, allow_patterns=list(_FILES)))
    except Exception as error:  # network, authentication, disk: each library has its own
        reason = " ".join(str(error).split())
        raise CheckpointError(f"{model_path} could not be downloaded: {reason}") from error
