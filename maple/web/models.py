"""GET /v1/models and /v1/models/{id}: the one model there is."""

import time

from flask import Blueprint, Response

from maple.errors import ModelNotFound
from maple.settings import Settings
from maple.web.body import json_response
from maple.web.services import services
from schemas import responses

bp = Blueprint("models", __name__)

STARTED = int(time.time())


def check_model(model: str | None, settings: Settings) -> None:
    """Raises ModelNotFound if a request names another model and MAPLE_STRICT_MODEL is on."""
    if settings.strict_model and model is not None and model != settings.model_id:
        raise _not_found(settings)


@bp.get("/v1/models")
def list_models() -> Response:
    return json_response(responses.model_list([responses.model_entry(services().settings.model_id, STARTED)]))


@bp.get("/v1/models/<path:model_id>")
def show_model(model_id: str) -> Response:
    settings = services().settings
    if model_id.rstrip("/") != settings.model_id:
        raise _not_found(settings)
    return json_response(responses.model_entry(settings.model_id, STARTED))


def _not_found(settings: Settings) -> ModelNotFound:
    return ModelNotFound(f"there is no such model here; this server has {settings.model_id}", param="model")
