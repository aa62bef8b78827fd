"""Whether the client is still there."""

from collections.abc import Callable


class ClientGone(Exception):
    """The client has closed the connection; nobody waits for the reply."""


def disconnect_check(environ: dict) -> Callable[[], bool]:
    """A function that says whether the client has left, as far as the WSGI server can tell.

    waitress can, with a channel_request_lookahead above 0; others are taken at no.
    """
    return environ.get("waitress.client_disconnected", lambda: False)
