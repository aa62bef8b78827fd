"""Builds the Flask application; only wiring in here."""

from flask import Flask
from flask_cors import CORS

from maple.engine import Engine
from maple.engine import engine as engine_of_this_process
from maple.settings import Settings
from maple.web import auth, chat, completions, errors, health, models, threads
from maple.web.body import JSONResponse
from maple.web.services import Services


def create_app(settings: Settings | None = None, engine: Engine | None = None) -> Flask:
    """An application that serves one model, which begins to load. Raises SettingsError.

    Without arguments: the environment's settings and the engine of this process.
    """
    settings = Settings.from_environment() if settings is None else settings
    engine = engine_of_this_process if engine is None else engine
    app = Flask(__name__, static_folder=None)
    app.response_class = JSONResponse
    app.config["MAX_CONTENT_LENGTH"] = settings.max_body_bytes
    app.extensions["maple"] = Services(settings, engine)
    # No redirects: clients turn a redirected POST into a GET.
    app.url_map.strict_slashes = False
    app.url_map.merge_slashes = False
    app.before_request(threads.warn_once(settings))
    app.before_request(auth.require_api_key)
    for module in (chat, completions, models, health):
        app.register_blueprint(module.bp)
    errors.register(app)
    CORS(
        app,
        origins=list(settings.allowed_origins),
        send_wildcard=True,
        expose_headers=["Retry-After", "WWW-Authenticate"],
    )
    engine.start(settings)
    return app
