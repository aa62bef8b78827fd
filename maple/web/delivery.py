"""Brings a generation's text to its client, as a stream or in one piece; both read it in the same loop."""

import time
from collections.abc import Callable, Iterator

from flask import Response, request

from maple.engine import Generation
from maple.errors import MapleError
from maple.settings import Settings
from maple.web import sse
from maple.web.body import json_response
from maple.web.chat_reply import ChatReply
from maple.web.client import ClientGone, disconnect_check
from maple.web.errors import error_body, unexpected
from maple.web.text_reply import TextReply
from schemas.generation import GenerationOptions

POLL_SECONDS = 0.25  # between two looks at whether the client has left

Reply = ChatReply | TextReply


def deliver(reply: Reply, generation: Generation, options: GenerationOptions, settings: Settings) -> Response:
    """The response for a generation that has just been submitted, which is closed at its end.

    Raises what the generation raises, or ClientGone, as long as no byte has been sent.
    """
    is_gone = disconnect_check(request.environ)
    if not options.stream:
        try:
            return json_response(_whole(reply, generation, is_gone))
        finally:
            generation.close()
    try:
        _wait_for_turn(generation, is_gone, settings.stream_open_after)
    except BaseException:
        generation.close()
        raise
    stream = _stream(reply, generation, is_gone, settings.keepalive_seconds, options.include_usage)
    return sse.stream_response(stream, on_close=generation.close)


def _pieces(generation: Generation, is_gone: Callable[[], bool], poll_seconds: float) -> Iterator[str]:
    """Raw text as it comes, "" whenever none came for poll_seconds. Raises ClientGone."""
    while not generation.finished:
        if is_gone():
            raise ClientGone
        yield generation.read(poll_seconds) or ""


def _whole(reply: Reply, generation: Generation, is_gone: Callable[[], bool]) -> dict:
    for piece in _pieces(generation, is_gone, POLL_SECONDS):
        reply.feed(piece)
    reply.finish()
    return reply.whole(generation)


def _wait_for_turn(generation: Generation, is_gone: Callable[[], bool], seconds: float) -> None:
    """Waits in the queue for so long at most, while a failure can still be told by an HTTP status."""
    deadline = time.monotonic() + seconds
    while not generation.started and (remaining := deadline - time.monotonic()) > 0:
        if is_gone():
            raise ClientGone
        generation.wait_for_turn(min(POLL_SECONDS, remaining))


def _stream(
    reply: Reply,
    generation: Generation,
    is_gone: Callable[[], bool],
    keepalive_seconds: float,
    include_usage: bool,
) -> Iterator[bytes]:
    """The events of a stream; a failure becomes the last but one."""
    yield sse.events(reply.opening()) or sse.KEEP_ALIVE  # with the first byte the headers leave
    try:
        yield from _text_events(reply, generation, is_gone, keepalive_seconds)
        yield sse.events(reply.finish() + reply.closing(generation, include_usage))
    except ClientGone:
        return
    except MapleError as error:
        yield sse.events([*reply.finish(), error_body(error)])
    except Exception as error:
        yield sse.events([error_body(unexpected(error))])
    yield sse.DONE


def _text_events(
    reply: Reply, generation: Generation, is_gone: Callable[[], bool], keepalive_seconds: float
) -> Iterator[bytes]:
    last_sent = time.monotonic()
    for piece in _pieces(generation, is_gone, min(POLL_SECONDS, keepalive_seconds)):
        # Reasoning that is not shown is silence too, however much text comes in.
        events = sse.events(reply.feed(piece))
        if not events and time.monotonic() - last_sent >= keepalive_seconds:
            events = sse.KEEP_ALIVE
        if events:
            yield events
            last_sent = time.monotonic()
