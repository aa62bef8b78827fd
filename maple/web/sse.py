"""Server-sent events."""

from collections.abc import Callable, Iterable

from flask import Response

from maple import strict_json

KEEP_ALIVE = b": keep-alive\n\n"
DONE = b"data: [DONE]\n\n"

# Line ends to some clients' line readers, though not to the standard; JSON may spell them as escapes.
_LINE_ENDS = {ord(character): f"\\u{ord(character):04x}" for character in "\x85\u2028\u2029"}


def events(chunks: Iterable[dict]) -> bytes:
    """One data event for each chunk."""
    return "".join(f"data: {strict_json.dumps(chunk).translate(_LINE_ENDS)}\n\n" for chunk in chunks).encode()


def stream_response(stream: Iterable[bytes], on_close: Callable[[], None]) -> Response:
    """A streamed reply. on_close is called at its end, however it ends, even if it never began."""
    response = Response(stream, content_type="text/event-stream")
    response.headers["Cache-Control"] = "no-cache"
    response.headers["X-Accel-Buffering"] = "no"
    response.call_on_close(on_close)
    return response
