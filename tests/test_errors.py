"""What a client is told, by meaning."""

import pytest

from maple import errors

# status, type, code, headers
TABLE = {
    errors.MapleError: (500, "server_error", None, {}),
    errors.InvalidRequest: (400, "invalid_request_error", None, {}),
    errors.ContextLengthExceeded: (400, "invalid_request_error", "context_length_exceeded", {}),
    errors.InvalidApiKey: (401, "invalid_request_error", "invalid_api_key", {"WWW-Authenticate": "Bearer"}),
    errors.ModelNotFound: (404, "invalid_request_error", "model_not_found", {}),
    errors.ModelLoading: (503, "server_error", "model_loading", {}),
    errors.ModelFailed: (503, "server_error", "model_failed", {}),
    errors.EngineOverloaded: (503, "server_error", "engine_overloaded", {"Retry-After": "5"}),
    errors.ShuttingDown: (503, "server_error", "shutting_down", {}),
    errors.GenerationFailed: (500, "server_error", None, {}),
}


@pytest.mark.parametrize(("error_class", "fields"), TABLE.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_each_error_has_its_fields(error_class, fields):
    error = error_class("what it was", param="a")
    assert (error.status, error.type, error.code, error.headers) == fields
    assert (str(error), error.message, error.param) == ("what it was", "what it was", "a")
    assert error_class("x").param is None


def test_the_table_is_complete():
    found = {value for value in vars(errors).values() if isinstance(value, type)}
    assert found - {errors.CheckpointError} == set(TABLE)
    assert not issubclass(errors.CheckpointError, errors.MapleError)  # no client is told of it as it is
