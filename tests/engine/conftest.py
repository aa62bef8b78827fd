"""A real tiny model for the engine's tests."""

import pytest

from maple.checkpoints.loader import load
from maple.settings import Settings


@pytest.fixture(scope="session")
def real_checkpoint(tiny_checkpoint):
    return load(Settings(model_path=str(tiny_checkpoint), device="cpu"), lambda fraction: None)
