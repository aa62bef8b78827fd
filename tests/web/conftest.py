"""Applications of one test."""

import contextlib

import pytest

from tests.application import serving


@pytest.fixture
def serve():
    """serving(), entered; it is left at the end of the test."""
    with contextlib.ExitStack() as stack:
        yield lambda *arguments, **settings: stack.enter_context(serving(*arguments, **settings))
