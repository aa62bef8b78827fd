"""Every error of every kind, the framework's own included, as a reply in the OpenAI shape."""

import logging

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

from maple.errors import GenerationFailed, MapleError
from maple.web.body import json_response
from maple.web.client import ClientGone
from schemas import responses

logger = logging.getLogger(__name__)

MESSAGES = {
    404: "there is no such route on this server",
    405: "this route does not take this method",
    413: "the request body is too large",
}


def register(app: Flask) -> None:
    """Handlers on the application, which also see the errors of routing."""
    app.register_error_handler(MapleError, _reply_to_maple_error)
    app.register_error_handler(HTTPException, _reply_to_http_exception)
    app.register_error_handler(ClientGone, _reply_to_nobody)
    app.register_error_handler(Exception, _reply_to_unexpected)


def error_body(error: MapleError) -> dict:
    return responses.error(error.message, error.type, error.param, error.code)


def unexpected(error: Exception) -> MapleError:
    """What a client is told of an unexpected error, which goes to the log."""
    logger.error("unexpected error", exc_info=error)
    return GenerationFailed("the server met an unexpected error; its log says more")


def http_error_body(status: int, message: str) -> dict:
    """The shape for an error that is known by its HTTP status alone."""
    error_type = "invalid_request_error" if status < 500 else "server_error"
    return responses.error(message, error_type)


def _reply_to_maple_error(error: MapleError) -> Response:
    response = json_response(error_body(error), error.status)
    response.headers.update(error.headers)
    return response


def _reply_to_http_exception(error: HTTPException) -> Response:
    response = error.get_response()  # it has the headers that belong to the status, such as Allow
    message = MESSAGES.get(response.status_code, error.description or error.name)
    if response.status_code in (404, 405):
        message += f": {request.method} {request.path}"
    response.data = json_response(http_error_body(response.status_code, message)).data
    response.mimetype = "application/json"
    return response


def _reply_to_nobody(_: ClientGone) -> Response:
    return Response(status=499)  # as nginx logs it; nobody reads it


def _reply_to_unexpected(error: Exception) -> Response:
    return _reply_to_maple_error(unexpected(error))
