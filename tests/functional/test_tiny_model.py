"""The model in the box through the OpenAI SDK: it reasons, answers, and calls tools."""

import json
import subprocess

import openai
import pytest

from tests.functional.server import running_server

QUESTION = [{"role": "user", "content": "What is 17 * 23?"}]
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the weather in a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
LAGOS = [{"role": "user", "content": "What is the weather in Lagos?"}]
GREEDY = {"model": "maple-preview", "temperature": 0}


@pytest.fixture(scope="module")
def server():
    with running_server("tiny") as running:
        running.wait_until_ready()
        yield running


@pytest.fixture(scope="module")
def client(server):
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:
        yield client


def test_it_multiplies_and_shows_how(client):
    answer = client.chat.completions.create(**GREEDY, messages=QUESTION)
    choice = answer.choices[0]
    assert "391" in choice.message.content
    assert choice.finish_reason == "stop"
    assert "391" in choice.message.model_extra["reasoning_content"]
    assert 0 < answer.usage.completion_tokens_details.reasoning_tokens < answer.usage.completion_tokens


def test_the_stream_is_the_same_answer(client):
    whole = client.chat.completions.create(**GREEDY, messages=QUESTION)
    chunks = list(
        client.chat.completions.create(**GREEDY, messages=QUESTION, stream=True, stream_options={"include_usage": True})
    )
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    kinds = ["reasoning" if (delta.model_extra or {}).get("reasoning_content") else "content" for delta in deltas[1:-1]]
    assert kinds == sorted(kinds, reverse=True)  # all reasoning comes before all content
    assert "".join(delta.content or "" for delta in deltas) == whole.choices[0].message.content
    reasoning = "".join((delta.model_extra or {}).get("reasoning_content", "") for delta in deltas)
    assert reasoning == whole.choices[0].message.model_extra["reasoning_content"]
    assert chunks[-1].usage == whole.usage


@pytest.mark.parametrize("stream", [False, True])
def test_it_calls_a_tool_and_uses_the_result(client, stream):
    answer = client.chat.completions.create(**GREEDY, messages=LAGOS, tools=[WEATHER], stream=stream)
    if stream:
        chunks = list(answer)
        calls = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or []]
        assert [call.index for call in calls] == [0]
        finish_reason = chunks[-1].choices[0].finish_reason
    else:
        calls, finish_reason = answer.choices[0].message.tool_calls, answer.choices[0].finish_reason
        assert answer.choices[0].message.content is None
    assert finish_reason == "tool_calls"
    assert calls[0].function.name == "get_weather"
    assert json.loads(calls[0].function.arguments) == {"city": "Lagos"}
    call = {"id": calls[0].id, "type": "function", "function": calls[0].function.model_dump()}
    result = {"role": "tool", "tool_call_id": calls[0].id, "content": '{"sky": "sunny"}'}
    history = [*LAGOS, {"role": "assistant", "content": None, "tool_calls": [call]}, result]
    final = client.chat.completions.create(**GREEDY, messages=history, tools=[WEATHER])
    assert "sunny" in final.choices[0].message.content
    assert final.choices[0].finish_reason == "stop"


def test_a_tool_it_is_not_shown_is_not_called(client):
    answer = client.chat.completions.create(**GREEDY, messages=LAGOS, tools=[WEATHER], tool_choice="none")
    assert answer.choices[0].message.tool_calls is None
    assert answer.choices[0].finish_reason == "stop"


def test_thinking_off(client):
    answer = client.chat.completions.create(
        **GREEDY,
        messages=[{"role": "user", "content": "Hello!"}],
        extra_body={"chat_template_kwargs": {"enable_thinking": False}},
    )
    assert answer.choices[0].message.content
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage.completion_tokens_details.reasoning_tokens == 0


def test_hidden_reasoning_leaves_answer_and_counts_as_they_are(client):
    shown = client.chat.completions.create(**GREEDY, messages=QUESTION)
    hidden = client.chat.completions.create(**GREEDY, messages=QUESTION, extra_body={"include_reasoning": False})
    assert "reasoning_content" not in (hidden.choices[0].message.model_extra or {})
    assert hidden.choices[0].message.content == shown.choices[0].message.content
    assert hidden.usage == shown.usage


def test_cut_off_in_the_thought(client):
    answer = client.chat.completions.create(**GREEDY, messages=QUESTION, max_tokens=5)
    assert (answer.choices[0].message.content, answer.choices[0].finish_reason) == ("", "length")
    assert answer.usage.completion_tokens_details.reasoning_tokens == 5


def test_a_stop_string_in_the_answer(client):
    whole = client.chat.completions.create(**GREEDY, messages=QUESTION).choices[0].message
    reasoning = whole.model_extra["reasoning_content"]
    word = reasoning[len(reasoning) // 2 :][:5]
    cut = client.chat.completions.create(**GREEDY, messages=QUESTION, stop=[word]).choices[0]
    assert cut.message.model_extra["reasoning_content"] == reasoning[: reasoning.index(word)]
    assert (cut.message.content, cut.finish_reason) == ("", "stop")


def curl(server, path, *arguments) -> bytes:
    command = ["curl", "--silent", "--show-error", "--no-buffer", "--max-time", "60", *arguments, server.url + path]
    return subprocess.run(command, check=True, capture_output=True).stdout


def test_curl_without_a_content_type(server):
    body = json.dumps({"messages": QUESTION, "temperature": 0})
    answer = json.loads(curl(server, "/v1/chat/completions", "--data", body))
    assert "391" in answer["choices"][0]["message"]["content"]


@pytest.mark.parametrize("version", ["--http1.0", "--http1.1"])
def test_curl_streams(server, version):
    body = json.dumps({"messages": QUESTION, "temperature": 0, "stream": True})
    reply = curl(server, "/v1/chat/completions", version, "--include", "--data", body).decode()
    head, _, events = reply.partition("\r\n\r\n")
    assert "Content-Type: text/event-stream" in head
    assert "Cache-Control: no-cache" in head
    assert "X-Accel-Buffering: no" in head
    lines = events.strip().split("\n\n")
    assert lines[-1] == "data: [DONE]"
    chunks = [json.loads(line.removeprefix("data: ")) for line in lines[:-1]]
    text = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)
    assert "391" in text


def test_curl_raw_completion(server):
    prompt = "<|im_start|>user\nWhat is 17 * 23?<|im_end|>\n<|im_start|>assistant\n<think>\n"
    answer = json.loads(curl(server, "/v1/completions", "--data", json.dumps({"prompt": prompt, "temperature": 0})))
    text = answer["choices"][0]["text"]
    assert "</think>" in text
    assert "391" in text.partition("</think>")[2]
