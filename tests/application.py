"""The application over the real engine, whose network speaks from a script, and what its replies hold."""

import contextlib
import json
from types import SimpleNamespace

from werkzeug.test import TestResponse

from maple.engine import Engine
from maple.settings import Settings
from maple.web.factory import create_app
from tests.scripted import scripted_checkpoint, stop_engine, wait_until

CHAT, COMPLETIONS = "/v1/chat/completions", "/v1/completions"
HI = {"messages": [{"role": "user", "content": "hi"}]}


@contextlib.contextmanager
def serving(pieces=("t</think>ok",), ends=True, checkpoint=None, load=None, **settings):
    """An application whose model says these pieces: .app, .client, .engine, .model and .prompts().

    load replaces the loader, and is not waited for.
    """
    longest = settings.get("max_prompt_tokens", 65536)
    checkpoint = checkpoint or scripted_checkpoint(pieces, ends, max_prompt_tokens=longest)
    engine = Engine(load=load or (lambda settings, on_progress: checkpoint))
    app = create_app(Settings(**settings), engine)
    if load is None:
        assert wait_until(lambda: engine.status().state == "ok")
    try:
        yield SimpleNamespace(
            app=app,
            client=app.test_client(),
            engine=engine,
            model=checkpoint.model,
            prompts=lambda: [_prompt_text(checkpoint, fed) for fed in checkpoint.model.fed],
        )
    finally:
        stop_engine(engine, checkpoint)


def _prompt_text(checkpoint, fed):
    """What was fed to a scripted model before its own pieces, control tokens included."""
    decode = checkpoint.tokenizer.transformers_tokenizer.decode
    return decode([token for token in fed if token not in checkpoint.model.ids])


def strictly(text):
    """Decodes standard JSON only: no NaN, no Infinity."""

    def refuse(name):
        raise AssertionError(f"{name} is not JSON")

    return json.loads(text, parse_constant=refuse)


def events_of(response: TestResponse) -> list:
    """The data events of a whole stream, decoded, without the [DONE] that must end it."""
    assert response.mimetype == "text/event-stream"
    blocks = response.get_data().decode().split("\n\n")
    assert blocks[-2:] == ["data: [DONE]", ""]
    assert all(block.startswith(("data: ", ": keep-alive")) for block in blocks[:-1])
    return [strictly(block.removeprefix("data: ")) for block in blocks[:-2] if block.startswith("data: ")]


def error_of(response: TestResponse, status: int) -> dict:
    """The error object of a failed request, its shape checked."""
    assert response.status_code == status, response.text
    assert response.mimetype == "application/json"
    body = strictly(response.text)
    assert list(body) == ["error"]
    assert list(body["error"]) == ["message", "type", "param", "code"]
    assert body["error"]["message"]
    assert isinstance(body["error"]["message"], str)
    return body["error"]
