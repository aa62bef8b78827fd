"""Fixtures and settings that several test folders share."""

import hypothesis
import pytest
import torch

from tests.checkpoint_files import write_checkpoint

torch.set_num_threads(1)  # tiny networks gain nothing from more, and lose much where cores are shared
hypothesis.settings.register_profile(
    "tests", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)  # a busy machine is no failure
hypothesis.settings.load_profile("tests")


@pytest.fixture(scope="session")
def tiny_checkpoint(tmp_path_factory):
    """A folder with a tiny random Maple in the published form, tokenizer and template included; not to be changed."""
    return write_checkpoint(tmp_path_factory.mktemp("checkpoints") / "tiny", num_shards=3)
