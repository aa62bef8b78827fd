"""Judges the body of a <tool_call> block."""

import json
import re
import secrets

from maple import strict_json
from maple.chat.events import ToolCall

_BETWEEN_OBJECTS = re.compile(r"[\s,]*(?=\{)|\s*")


def parse_calls(body: str) -> list[ToolCall] | None:
    """The calls in a block's body: one JSON object or several back to back; None if any of it is no valid call."""
    calls = []
    body = body.strip()
    position = 0
    while position < len(body):
        try:
            _, end = json.JSONDecoder().raw_decode(body, position)
            value = strict_json.loads(body[position:end])
        except (ValueError, RecursionError):
            return None
        call = _call(value)
        if call is None:
            return None
        calls.append(call)
        position = _BETWEEN_OBJECTS.match(body, end).end()
    return calls or None


def _call(value) -> ToolCall | None:
    if not isinstance(value, dict) or not isinstance(value.get("name"), str) or not value["name"]:
        return None
    arguments = value.get("arguments")
    arguments = _arguments(value.get("parameters") if arguments is None else arguments)
    return None if arguments is None else ToolCall(f"call_{secrets.token_hex(12)}", value["name"], arguments)


def _arguments(value) -> str | None:
    """A JSON object as text, or None if the value is none and holds none."""
    if value is None:
        return "{}"
    if isinstance(value, dict):
        return strict_json.dumps(value)
    if isinstance(value, str):
        try:
            return value if isinstance(strict_json.loads(value), dict) else None
        except strict_json.JSONError:
            return None
    return None
