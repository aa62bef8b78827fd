"""The entry point: python app.py, or waitress-serve app:app."""

import logging
import sys

from maple.engine import engine
from maple.settings import Settings, SettingsError
from maple.web.factory import create_app
from maple.web.serving import Server
from maple.web.signals import end_process, end_process_on_stop_signal, on_stop_signal


def main() -> int:
    """Serves until it is told to stop; returns the exit status."""
    try:
        server = Server(app)
    except (OSError, ValueError) as error:
        print(f"maple: cannot listen on {settings.host}:{settings.port}: {error}", file=sys.stderr)
        return 1
    on_stop_signal(server.stop)
    server.run()
    return 0


try:
    settings = Settings.from_environment()
except SettingsError as error:
    raise SystemExit(f"maple: {error}") from None
logging.basicConfig(level=settings.log_level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s")
app = create_app(settings, engine)

if __name__ == "__main__":
    end_process(main())
elif "waitress.runner" in sys.modules:  # waitress-serve, which would abandon running streams and crash at its end
    end_process_on_stop_signal(engine)
