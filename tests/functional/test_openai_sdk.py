"""The OpenAI SDK against the real server, with a random model: shapes, streaming, usage and errors."""

import openai
import pytest

CHAT = {"model": "maple-preview", "messages": [{"role": "user", "content": "What is 17 * 23?"}]}


@pytest.fixture(scope="module")
def client(server):
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:
        yield client


def test_chat(client):
    answer = client.chat.completions.create(**CHAT, max_tokens=12, seed=1)
    assert (answer.object, answer.model, len(answer.choices)) == ("chat.completion", "maple-preview", 1)
    choice = answer.choices[0]
    assert (choice.message.role, choice.finish_reason) == ("assistant", "length")
    assert choice.message.content == ""  # cut off while it thinks
    assert choice.message.model_extra["reasoning_content"]
    usage = answer.usage
    assert (usage.completion_tokens, usage.completion_tokens_details.reasoning_tokens) == (12, 12)
    assert usage.total_tokens == usage.prompt_tokens + 12
    assert usage.prompt_tokens_details.cached_tokens == 0


def test_streamed_chat_is_the_same_text(client):
    options = CHAT | {"max_tokens": 40, "seed": 5, "temperature": 1.0}
    whole = client.chat.completions.create(**options)
    chunks = list(client.chat.completions.create(**options, stream=True, stream_options={"include_usage": True}))
    assert chunks[0].choices[0].delta.role == "assistant"
    assert len({(chunk.id, chunk.created, chunk.model) for chunk in chunks}) == 1
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    reasoning = "".join((delta.model_extra or {}).get("reasoning_content", "") for delta in deltas)
    assert reasoning == whole.choices[0].message.model_extra["reasoning_content"]
    assert "".join(delta.content or "" for delta in deltas) == whole.choices[0].message.content
    assert chunks[-2].choices[0].finish_reason == whole.choices[0].finish_reason
    assert chunks[-1].usage == whole.usage


def test_thinking_off(client):
    answer = client.chat.completions.create(
        **CHAT, max_tokens=12, extra_body={"chat_template_kwargs": {"enable_thinking": False}}
    )
    assert answer.choices[0].message.content
    assert "reasoning_content" not in (answer.choices[0].message.model_extra or {})
    assert answer.usage.completion_tokens_details.reasoning_tokens == 0


def test_completions(client):
    whole = client.completions.create(model="m", prompt="Hello", max_tokens=10, seed=3)
    assert (whole.object, whole.choices[0].finish_reason) == ("text_completion", "length")
    chunks = list(client.completions.create(model="m", prompt="Hello", max_tokens=10, seed=3, stream=True))
    assert "".join(chunk.choices[0].text for chunk in chunks) == whole.choices[0].text
    assert whole.usage.completion_tokens == 10


def test_models(client):
    models = client.models.list().data
    assert [(model.id, model.owned_by) for model in models] == [("maple-preview", "deepgrove")]
    assert client.models.retrieve("maple-preview").id == "maple-preview"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("another")


@pytest.mark.parametrize(
    ("changes", "param"),
    [({"n": 2}, "n"), ({"temperature": 3}, "temperature"), ({"max_tokens": 0}, "max_tokens"), ({"stop": ""}, "stop")],
)
@pytest.mark.parametrize("stream", [False, True])
def test_a_bad_request_is_a_bad_request_error(client, changes, param, stream):
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(**CHAT | changes, stream=stream)
    assert (caught.value.param, caught.value.type) == (param, "invalid_request_error")


def test_too_long_a_prompt_has_its_code(client):
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(**CHAT | {"messages": [{"role": "user", "content": "x" * 5000}]})
    assert caught.value.code == "context_length_exceeded"
