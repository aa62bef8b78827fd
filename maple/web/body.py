"""JSON bodies, in and out."""

from flask import Response, abort, request

from maple import strict_json
from maple.errors import InvalidRequest

# Millions of empty lists would fit into a body; each costs a hundred times its size in memory.
MOST_VALUES = 300_000


def read_object() -> dict:
    """The request's body as an object, whatever its content type says. Raises InvalidRequest, or 413 or 415."""
    if request.headers.get("Content-Encoding", "identity").lower() not in ("", "identity"):
        abort(415, "compressed request bodies are not supported")
    text = request.get_data(cache=False)
    if sum(text.count(mark) for mark in b"[{,:") > MOST_VALUES:
        raise InvalidRequest(f"the body holds too many values; at most about {MOST_VALUES} are taken")
    if not text.strip():
        raise InvalidRequest("the body is empty; it must be a JSON object")
    try:
        body = strict_json.loads(text)
    except strict_json.JSONError as error:
        raise InvalidRequest(f"the body is not JSON this server takes: {error}", param=error.field) from None
    if not isinstance(body, dict):
        raise InvalidRequest("the body must be a JSON object")
    return body


class JSONResponse(Response):
    """A reply that is JSON unless it says otherwise; Flask's own is HTML."""

    default_mimetype = "application/json"


def json_response(body: dict, status: int = 200) -> Response:
    return JSONResponse(strict_json.dumps(body) + "\n", status)
