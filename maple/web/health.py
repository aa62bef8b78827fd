"""GET /health and /health/live, for orchestrators; both work without a key."""

from flask import Blueprint, Response

from maple import __version__
from maple.web.body import json_response
from maple.web.services import services

bp = Blueprint("health", __name__)


@bp.get("/health")
def health() -> Response:
    """200 once the model answers; 503 while it loads, with progress, and after a failed load, with a message."""
    settings, status = services().settings, services().engine.status()
    body = {"status": status.state, "model": settings.model_id, "model_path": settings.model_path}
    if status.state == "loading":
        body["progress"] = status.progress
    if status.error is not None:
        body["message"] = status.error
    body |= {
        "device": status.device,
        "dtype": status.dtype,
        "attention": status.attention,
        "load_seconds": status.load_seconds,
        "queue_depth": status.queue_depth,
        "active": status.active,
        "version": __version__,
    }
    return json_response(body, 200 if status.state == "ok" else 503)


@bp.get("/health/live")
def live() -> Response:
    """200 as long as the process serves at all."""
    return json_response({"status": "ok"})
