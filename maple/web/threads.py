"""How many threads the WSGI server needs, and a word to who started it with fewer."""

import logging
import threading
from collections.abc import Callable

from flask import request

from maple.settings import Settings

RESERVE = 8  # for /health, /v1/models and refusals while everything else waits or generates

logger = logging.getLogger(__name__)


def num_threads(settings: Settings) -> int:
    """Each waiting or generating request holds a thread."""
    return 1 + settings.max_queue_depth + RESERVE


def warn_once(settings: Settings) -> Callable[[], None]:
    """A before_request function that looks at waitress's threads when the first request comes."""
    first = iter([True])

    def warn() -> None:
        if not next(first, False) or "waitress.client_disconnected" not in request.environ:
            return
        running = sum(thread.name.startswith("waitress-") for thread in threading.enumerate())
        if running < num_threads(settings):
            logger.warning(
                "%d threads cannot serve a queue of %d: /health may have to wait, and a full queue goes unanswered. "
                "Start with: waitress-serve --threads=%d --channel-request-lookahead=1 app:app",
                running,
                settings.max_queue_depth,
                num_threads(settings),
            )

    return warn
