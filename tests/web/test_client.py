"""Whether the client is still there, as far as a server tells."""

import pytest

from maple.web.client import disconnect_check


@pytest.mark.parametrize(
    ("environ", "is_gone"),
    [
        ({}, False),
        ({"waitress.client_disconnected": lambda: False}, False),
        ({"waitress.client_disconnected": lambda: True}, True),
    ],
)
def test_what_the_server_says_counts(environ, is_gone):
    assert disconnect_check(environ)() == is_gone
