"""Asks an application in the four ways, and gives replies as plain values."""

from dataclasses import dataclass, field

from flask.testing import FlaskClient

from tests.application import CHAT, COMPLETIONS, HI, error_of, events_of, serving, strictly
from tests.scripted import is_idle

PROMPT = {"prompt": "hi"}
TOOL_F = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
TOOLS = HI | {"tools": [TOOL_F]}


@dataclass
class Reply:
    """What a reply says, however it was delivered."""

    reasoning: str = ""
    content: str | None = None
    calls: list = field(default_factory=list)  # (name, arguments)
    finish_reason: str | None = None
    usage: dict | None = None
    call_ids: list = field(default_factory=list, compare=False)

    @property
    def said(self):
        return self.reasoning, self.content, self.calls, self.finish_reason


def ask(client: FlaskClient, body: dict, path: str = CHAT, stream: bool = False) -> Reply:
    """The reply to a request that must succeed, its shape checked."""
    if stream:
        body = body | {"stream": True, "stream_options": {"include_usage": True}}
    response = client.post(path, json=body)
    assert response.status_code == 200, response.text
    reply = _from_stream(events_of(response), path) if stream else _from_body(strictly(response.text), path)
    assert len(set(reply.call_ids)) == len(reply.call_ids)
    usage = reply.usage
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    return reply


def _from_body(body, path) -> Reply:
    (choice,) = body["choices"]
    assert (choice["index"], choice["logprobs"]) == (0, None)
    if path == COMPLETIONS:
        assert body["object"] == "text_completion"
        return Reply(content=choice["text"], finish_reason=choice["finish_reason"], usage=body["usage"])
    assert body["object"] == "chat.completion"
    message = choice["message"]
    assert message["role"] == "assistant"
    calls = message.get("tool_calls", [])
    assert [call["type"] for call in calls] == ["function"] * len(calls)
    return Reply(
        message.get("reasoning_content", ""),
        message["content"],
        [(call["function"]["name"], call["function"]["arguments"]) for call in calls],
        choice["finish_reason"],
        body["usage"],
        [call["id"] for call in calls],
    )


def _from_stream(events, path) -> Reply:
    assert len({(event["id"], event["created"], event["model"]) for event in events}) == 1
    *events, last = events
    assert last["choices"] == []
    choices = [event["choices"][0] for event in events]
    assert [choice["finish_reason"] for choice in choices[:-1]] == [None] * (len(choices) - 1)
    reply = Reply(finish_reason=choices[-1]["finish_reason"], usage=last["usage"])
    if path == COMPLETIONS:
        reply.content = "".join(choice["text"] for choice in choices)
        return reply
    assert choices[0]["delta"] == {"role": "assistant", "content": ""}
    deltas = [choice["delta"] for choice in choices[1:-1]]
    assert choices[-1]["delta"] == {}
    assert all(len(delta) == 1 and all(delta.values()) for delta in deltas)  # one field each, none of them empty
    reply.reasoning = "".join(delta.get("reasoning_content", "") for delta in deltas)
    reply.content = "".join(delta.get("content", "") for delta in deltas)
    calls = [call for delta in deltas for call in delta.get("tool_calls", [])]
    assert [call["index"] for call in calls] == list(range(len(calls)))
    reply.calls = [(call["function"]["name"], call["function"]["arguments"]) for call in calls]
    reply.call_ids = [call["id"] for call in calls]
    if calls and not reply.content:
        reply.content = None  # as the reply that is not streamed spells it
    return reply


def cuttings(raw):
    """The same output as given, in single characters (or bytes), and in one piece."""
    joined = b"".join(raw) if isinstance(raw[0], bytes) else "".join(raw)
    singles = [joined[i : i + 1] for i in range(len(joined))]
    return [list(raw), singles, [joined]]


def four_ways(raw, body=HI, path=CHAT, cut=False, **settings) -> Reply:
    """The reply to a model that says raw, asserted to be the same streamed or not and however it is cut.

    cut: max_tokens ends the output instead of the end token. The usage returned is that of the pieces as given.
    """
    first = None
    for pieces in cuttings(raw):
        limited = body | {"max_tokens": len(pieces)} if cut else body
        with serving(pieces, ends=not cut, **settings) as served:
            whole, streamed = (ask(served.client, limited, path, stream) for stream in (False, True))
            assert is_idle(served.engine)
        assert streamed == whole, pieces
        first = first or whole
        assert whole.said == first.said, pieces
        if "stop" not in body:
            assert whole.usage["completion_tokens"] == len(pieces) + (not cut)
    return first


def refused(client: FlaskClient, body, path=CHAT, status=400, param=..., code=None, **options) -> dict:
    """The error of a request that must fail, in the same way streamed and not (C62). body: JSON value or raw bytes."""
    bodies = [body, body | {"stream": True}] if isinstance(body, dict) else [body]
    errors = []
    for each in bodies:
        content = {"data": each} if isinstance(each, bytes) else {"json": each}
        errors.append(error_of(client.post(path, **content, **options), status))
    assert errors == [errors[0]] * len(errors)
    assert errors[0]["code"] == code
    assert errors[0]["type"] == ("invalid_request_error" if status < 500 else "server_error")
    if param is not ...:
        assert errors[0]["param"] == param
    return errors[0]
