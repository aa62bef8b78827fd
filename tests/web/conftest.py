"""Applications over the real engine, whose network speaks from a script."""

import json
from types import SimpleNamespace

import pytest

from maple.engine import Engine
from maple.settings import Settings
from maple.web.factory import create_app
from tests.scripted import scripted_checkpoint, wait_until

CHAT = "/v1/chat/completions"
HI = {"messages": [{"role": "user", "content": "hi"}]}


def open_app(pieces=("ok",), ends=True, context_length=4096, load=None, **settings):
    """.app, .client, .engine and .model, the scripted network; load replaces the loader, and nothing is waited for."""
    checkpoint = scripted_checkpoint(pieces, ends, context_length)
    engine = Engine(load=load or (lambda settings, on_progress: checkpoint))
    app = create_app(Settings(**settings), engine)
    if load is None:
        assert wait_until(lambda: engine.status().state == "ok")
    return SimpleNamespace(app=app, client=app.test_client(), engine=engine, model=checkpoint.model)


@pytest.fixture
def serve():
    """open_app(), whose engines are stopped at the end of the test."""
    opened = []

    def serve(*arguments, **settings):
        opened.append(open_app(*arguments, **settings))
        return opened[-1]

    yield serve
    for server in opened:
        for gate in server.model.gates.values():
            gate.set()
        server.engine.stop()


def events_of(response) -> list:
    """The decoded data events of a stream; comments are left out, [DONE] stays a string."""
    lines = response.get_data().decode().split("\n\n")
    data = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]
    return [item if item == "[DONE]" else json.loads(item) for item in data]
