"""Applications that many cases share."""

import pytest

from maple.checkpoints.loader import load
from maple.settings import Settings
from tests.application import serving
from tests.scripted import is_idle


@pytest.fixture(scope="module")
def served():
    """A model that thinks "t" and answers "ok"."""
    with serving() as served:
        yield served
        assert is_idle(served.engine)


@pytest.fixture
def client(served):
    return served.client


@pytest.fixture(scope="module")
def real_client(tiny_checkpoint):
    """A real tiny model of random weights."""
    settings = Settings(model_path=str(tiny_checkpoint), device="cpu")
    with serving(checkpoint=load(settings, lambda fraction: None)) as served:
        yield served.client
        assert is_idle(served.engine)
