"""Servers that several functional tests share."""

import pytest
import torch

from tests.checkpoint_files import published_config, random_tensors, write_checkpoint
from tests.functional.server import running_server


@pytest.fixture(scope="session")
def endless_checkpoint(tmp_path_factory):
    """A random tiny Maple that never ends its turn: its end tokens' logits are 0, those drawn from are far higher."""
    config = published_config()
    tensors = random_tensors(config)
    for token in (config["eos_token_id"], config["bos_token_id"]):
        tensors["lm_head.weight"][token] = torch.zeros(config["hidden_size"])
    return write_checkpoint(tmp_path_factory.mktemp("checkpoints") / "endless", config, tensors)


@pytest.fixture(scope="session")
def server(tiny_checkpoint):
    with running_server(tiny_checkpoint) as running:
        running.wait_until_ready()
        yield running
