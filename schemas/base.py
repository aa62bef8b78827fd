"""What every schema shares: null means absent, unknown fields are ignored, the first error becomes one sentence."""

from marshmallow import EXCLUDE, Schema, ValidationError, pre_load

from maple.errors import InvalidRequest


class ObjectSchema(Schema):
    """The schema of any object in a request body."""

    error_messages = {"type": "must be an object"}  # noqa: RUF012 - marshmallow's interface

    class Meta:
        unknown = EXCLUDE

    @pre_load
    def _drop_nulls(self, data, **_):
        if not isinstance(data, dict):
            return data
        return {name: value for name, value in data.items() if value is not None}


def invalid_request(error: ValidationError) -> InvalidRequest:
    """The first of marshmallow's errors as an error for the client, its path as param."""
    path, problem = "", error.messages
    while isinstance(problem, (dict, list)):
        if isinstance(problem, list):
            problem = problem[0]
            continue
        step, problem = next(iter(problem.items()))
        if isinstance(step, int):
            path += f"[{step}]"
        elif step != "_schema":
            path += f".{step}" if path else step
    return InvalidRequest(f"{path or 'the body'} {problem}", param=path or None)
