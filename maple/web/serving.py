"""Serves the application with waitress, and ends in good order when told to."""

import logging
import select
import threading
import time

from flask import Flask
from waitress import create_server, wasyncore
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import BaseWSGIServer
from waitress.task import ErrorTask

from maple import strict_json
from maple.web.errors import MESSAGES, http_error_body
from maple.web.services import Services
from maple.web.threads import num_threads

DRAIN_SECONDS = 3.5  # for the last words to leave, once told to stop
CLOSE_SECONDS = 0.5  # for threads to end, after that
SPARE_BODY_BYTES = 1024 * 1024  # so that most bodies over the limit are still Flask's to refuse
SEND_SECONDS = 60  # a client that takes nothing for so long, though there is something, is given up
POLL_GONE = getattr(select, "POLLRDHUP", select.POLLHUP)  # the first is Linux's, and also sees half-closed sockets
SPARE_CONNECTIONS = 500  # idle ones, beside those that hold a thread

logger = logging.getLogger(__name__)


class JSONErrorTask(ErrorTask):
    """waitress's own refusals (broken requests, bodies far too large) in the OpenAI shape."""

    def execute(self):
        error = self.request.error
        message = MESSAGES.get(error.code, f"{error.reason}: {error.body}")
        body = strict_json.dumps(http_error_body(error.code, message)).encode()
        self.status = f"{error.code} {error.reason}"
        self.response_headers.append(("Content-Type", "application/json"))
        self._allow_origin()
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)

    def _allow_origin(self):
        allowed = self.channel.server.allowed_origins
        origin = self.request.headers.get("ORIGIN")
        if allowed == ("*",) or origin in allowed:
            self.response_headers.append(("Access-Control-Allow-Origin", "*" if allowed == ("*",) else origin))


class RequestParser(HTTPRequestParser):
    """waitress's parser, which lets some errors of the standard library through."""

    def parse_header(self, header_plus):
        try:
            super().parse_header(header_plus)
        except ValueError:
            raise ParsingError("the request line or a header cannot be read") from None


class Channel(HTTPChannel):
    """A connection whose refusals are JSON, and whose end is seen whatever else was sent on it."""

    parser_class = RequestParser
    error_task_class = JSONErrorTask

    def check_client_disconnected(self):
        # waitress does not look at the socket while pipelined requests wait; poll() sees its end behind them.
        try:
            poll = select.poll()
            poll.register(self.socket, POLL_GONE)
            return not self.connected or bool(poll.poll(0))
        except (OSError, TypeError, ValueError):  # closed meanwhile
            return True


class Server:
    """The listening sockets of one application. Raises OSError or ValueError if it cannot listen."""

    def __init__(self, app: Flask):
        services: Services = app.extensions["maple"]
        settings = services.settings
        self._engine = services.engine
        self._is_stopping = False
        self._sockets: dict = {}  # waitress's map of everything its loop looks at
        create_server(
            app,
            map=self._sockets,
            host=settings.host,
            port=settings.port,
            threads=num_threads(settings),
            channel_request_lookahead=1,  # else a client that leaves is only noticed when it is written to
            connection_limit=num_threads(settings) + SPARE_CONNECTIONS,
            max_request_body_size=settings.max_body_bytes + SPARE_BODY_BYTES,
        )
        self._listeners = [item for item in self._sockets.values() if isinstance(item, BaseWSGIServer)]
        for listener in self._listeners:
            listener.channel_class = Channel
            listener.allowed_origins = settings.allowed_origins

    @property
    def addresses(self) -> list[str]:
        return [f"http://{_bracketed(item.effective_host)}:{item.effective_port}" for item in self._listeners]

    def run(self) -> None:
        """Serves until stop(), then ends all generations, sends what there is to send, and closes everything.

        Returns at most 4 seconds after stop(), even if clients are slow or threads are stuck.
        """
        logger.info("listening on %s", " and ".join(self.addresses))
        next_look = time.monotonic()
        while not self._is_stopping:
            self._loop_once(seconds=1)
            if time.monotonic() >= next_look:
                self._drop_stalled()
                next_look = time.monotonic() + 1
        logger.info("shutting down")
        self._drain(time.monotonic() + DRAIN_SECONDS)
        self._listeners[0].task_dispatcher.shutdown(timeout=CLOSE_SECONDS)
        wasyncore.close_all(self._sockets)

    def stop(self, *_) -> None:
        """Makes run() come to its end. May be called from any thread, and as a signal handler."""
        if not self._is_stopping:
            self._is_stopping = True
            self._listeners[0].pull_trigger()  # wakes the loop up

    def _drain(self, deadline: float) -> None:
        # In a thread of its own: the loop has to go on, or the last words would not leave.
        stopping = threading.Thread(target=self._engine.stop, daemon=True)
        stopping.start()
        while time.monotonic() < deadline and (stopping.is_alive() or self._is_busy()):
            self._loop_once(seconds=0.05)

    def _drop_stalled(self) -> None:
        # waitress waits for ever for a client that does not read, with the thread that writes to it.
        for channel in self._channels():
            if channel.total_outbufs_len and time.time() - channel.last_activity > SEND_SECONDS:
                logger.info("a client has taken nothing for %d s and is given up", SEND_SECONDS)
                channel.handle_close()

    def _is_busy(self) -> bool:
        return any(channel.requests or channel.total_outbufs_len for channel in self._channels())

    def _channels(self) -> list[HTTPChannel]:
        return [channel for listener in self._listeners for channel in listener.active_channels.values()]

    def _loop_once(self, seconds: float) -> None:
        # poll(), since select() ends at descriptor 1023
        wasyncore.loop(timeout=seconds, use_poll=True, map=self._sockets, count=1)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
