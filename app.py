"""The entry point: python app.py, or waitress-serve app:app."""

import logging
import os
import signal
import sys

from maple.settings import Settings, SettingsError
from maple.web.factory import create_app
from maple.web.serving import Server


def main() -> int:
    """Serves until it is told to stop; returns the exit status."""
    settings = app.extensions["maple"].settings
    try:
        server = Server(app)
    except (OSError, ValueError) as error:
        print(f"maple: cannot listen on {settings.host}:{settings.port}: {error}", file=sys.stderr)
        return 1
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, server.stop)
    server.run()
    return 0


try:
    _settings = Settings.from_environment()
except SettingsError as error:
    raise SystemExit(f"maple: {error}") from None
logging.basicConfig(level=_settings.log_level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s")
app = create_app(_settings)

if __name__ == "__main__":
    status = main()
    logging.shutdown()
    # Not sys.exit(): a thread inside native code cannot be waited for, and would crash the interpreter's own end.
    os._exit(status)
