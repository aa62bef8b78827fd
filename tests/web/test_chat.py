"""The chat route, over a scripted network."""

import threading

import pytest

from tests.application import CHAT, HI, error_of
from tests.scripted import a_request


def test_reasoning_and_thinking_defaults_come_from_the_settings(serve):
    server = serve(["391"], enable_thinking=False, include_reasoning=False)
    assert server.client.post(CHAT, json=HI).json["choices"][0]["message"]["content"] == "391"
    thinking = HI | {"chat_template_kwargs": {"enable_thinking": True}, "include_reasoning": True}
    assert server.client.post(CHAT, json=thinking).json["choices"][0]["message"]["reasoning_content"] == "391"


@pytest.mark.parametrize("stream", [False, True])
def test_a_full_queue_is_noticed_before_the_prompt_is_rendered(serve, stream):
    server = serve(max_queue_depth=0)
    server.model.gates[0] = threading.Event()
    running = server.engine.submit(a_request())
    unusable = HI | {"chat_template_kwargs": {"tokenize": True}, "stream": stream}
    assert error_of(server.client.post(CHAT, json=unusable), 503)["code"] == "engine_overloaded"
    running.close()


@pytest.mark.parametrize(("content", "param"), [("", None), ("x" * 100, "messages")], ids=["short enough", "too long"])
def test_the_length_of_the_prompt_is_that_of_the_messages(serve, content, param):
    response = serve(max_prompt_tokens=60).client.post(CHAT, json={"messages": [{"role": "user", "content": content}]})
    assert response.json.get("error", {}).get("param") == param
    assert response.status_code == (200 if param is None else 400)
