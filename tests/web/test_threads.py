"""How many threads there are, and should be."""

import logging
import threading

import pytest
from flask import Flask

from maple.settings import Settings
from maple.web.threads import num_threads, warn_once

SETTINGS = Settings(max_queue_depth=3)
WAITRESS = {"waitress.client_disconnected": lambda: False}


def test_each_request_that_waits_or_runs_has_a_thread_and_eight_are_left():
    assert num_threads(SETTINGS) == 12
    assert num_threads(Settings(max_queue_depth=0)) == 9


@pytest.mark.parametrize(
    ("threads", "environ", "warnings"), [(11, WAITRESS, 1), (12, WAITRESS, 0), (1, {}, 0)], ids=str
)
def test_too_few_threads_are_warned_of_once(caplog, monkeypatch, threads, environ, warnings):
    names = [f"waitress-{number}" for number in range(threads)]
    fakes = [threading.Thread(name=name) for name in [*names, "maple-engine"]]
    monkeypatch.setattr("maple.web.threads.threading.enumerate", lambda: fakes)
    warn = warn_once(SETTINGS)
    with caplog.at_level(logging.WARNING, "maple.web.threads"):
        for _ in range(2):
            with Flask("test").test_request_context(environ_overrides=environ):
                assert warn() is None
    assert len(caplog.records) == warnings
    assert not warnings or "--threads=12 --channel-request-lookahead=1" in caplog.text
