"""The bodies of all replies."""

import time
import uuid
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReplyHeader:
    """What all chunks of one reply have in common. created is in Unix seconds."""

    id: str
    created: int
    model: str

    @classmethod
    def new(cls, prefix: str, model: str) -> "ReplyHeader":
        """A header with a fresh random id."""
        return cls(f"{prefix}-{uuid.uuid4().hex}", int(time.time()), model)


def chat_completion(header: ReplyHeader, message: dict, finish_reason: str, usage: dict) -> dict:
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish_reason}
    return _reply(header, "chat.completion", [choice]) | {"usage": usage}


def chat_chunk(header: ReplyHeader, delta: dict, finish_reason: str | None = None) -> dict:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return _reply(header, "chat.completion.chunk", [choice])


def chat_usage_chunk(header: ReplyHeader, usage: dict) -> dict:
    return _reply(header, "chat.completion.chunk", []) | {"usage": usage}


def tool_call(call_id: str, name: str, arguments: str) -> dict:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def text_completion(header: ReplyHeader, text: str, finish_reason: str, usage: dict) -> dict:
    return text_chunk(header, text, finish_reason) | {"usage": usage}


def text_chunk(header: ReplyHeader, text: str, finish_reason: str | None = None) -> dict:
    choice = {"index": 0, "text": text, "logprobs": None, "finish_reason": finish_reason}
    return _reply(header, "text_completion", [choice])


def text_usage_chunk(header: ReplyHeader, usage: dict) -> dict:
    return _reply(header, "text_completion", []) | {"usage": usage}


def usage(prompt_tokens: int, completion_tokens: int, cached_tokens: int, reasoning_tokens: int) -> dict:
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
        "prompt_tokens_details": {"cached_tokens": cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": reasoning_tokens},
    }


def model_entry(model_id: str, created: int) -> dict:
    return {"id": model_id, "object": "model", "created": created, "owned_by": "deepgrove"}


def model_list(entries: list[dict]) -> dict:
    return {"object": "list", "data": entries}


def error(message: str, error_type: str, param: str | None = None, code: str | None = None) -> dict:
    return {"error": {"message": message, "type": error_type, "param": param, "code": code}}


def _reply(header: ReplyHeader, kind: str, choices: list[dict]) -> dict:
    return {
        "id": header.id,
        "object": kind,
        "created": header.created,
        "model": header.model,
        "choices": choices,
    }
