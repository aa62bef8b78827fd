"""Everything that can go wrong for a client, by meaning; maple/web/errors.py turns these into replies."""


class MapleError(Exception):
    """An error a client is told of. Class attributes are the OpenAI error fields and the HTTP status."""

    status = 500
    type = "server_error"
    code: str | None = None
    headers: dict[str, str] = {}  # noqa: RUF012 - never changed

    def __init__(self, message: str, *, param: str | None = None):
        super().__init__(message)
        self.message = message
        self.param = param


class InvalidRequest(MapleError):
    """The request cannot be served as it is; param names the field."""

    status = 400
    type = "invalid_request_error"


class ContextLengthExceeded(InvalidRequest):
    """The prompt is longer than the settings or the model allow."""

    code = "context_length_exceeded"


class InvalidApiKey(InvalidRequest):
    """A key is required and the request has not got it."""

    status = 401
    code = "invalid_api_key"
    headers = {"WWW-Authenticate": "Bearer"}  # noqa: RUF012


class ModelNotFound(InvalidRequest):
    """The request names a model this server does not serve."""

    status = 404
    code = "model_not_found"


class ModelLoading(MapleError):
    """The weights are not there yet."""

    status = 503
    code = "model_loading"


class ModelFailed(MapleError):
    """The weights could not be loaded; the message says why."""

    status = 503
    code = "model_failed"


class EngineOverloaded(MapleError):
    """No place in the queue, or none in time."""

    status = 503
    code = "engine_overloaded"
    headers = {"Retry-After": "5"}  # noqa: RUF012


class ShuttingDown(MapleError):
    """The server is ending."""

    status = 503
    code = "shutting_down"


class GenerationFailed(MapleError):
    """The model raised while generating; what it was stands in the log, not in the message."""


class CheckpointError(Exception):
    """A model's files cannot be used; the message names the file or tensor and what is wrong with it."""
