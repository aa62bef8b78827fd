"""The end of the process: SIGTERM and Ctrl-C."""

import logging
import os
import signal
import threading
import time
from collections.abc import Callable

from maple.engine import Engine

GRACE_SECONDS = 1  # for the last words of streams to leave


def on_stop_signal(handler: Callable) -> None:
    """Has SIGTERM and Ctrl-C call handler(number, frame). Only for the main thread."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, handler)


def end_process(status: int) -> None:
    """Ends it at once. A thread inside native code cannot be waited for, and would crash an orderly end."""
    logging.shutdown()
    os._exit(status)


def end_process_on_stop_signal(engine: Engine) -> None:
    """For servers that are not ours: they go on, and send what there is to send, until the process ends."""

    def end() -> None:
        engine.stop()
        time.sleep(GRACE_SECONDS)
        end_process(0)

    on_stop_signal(lambda *_: threading.Thread(target=end, daemon=True).start())
