"""JSON as the standard has it, and no more of it than can be handled safely."""

import json
import math

MAX_DEPTH = 100  # deeper values would exhaust the stack of whatever walks them later, templates included


class JSONError(ValueError):
    """The text is not JSON this server takes; the message says why, without quoting it.

    Attribute field: the key of the top-level object the trouble lies under, if it is known.
    """

    def __init__(self, message: str, field: str | None = None):
        super().__init__(message)
        self.field = field


def loads(text: str | bytes):
    """Decodes one JSON value. Raises JSONError.

    Refused beside bad syntax: NaN and Infinity, numbers too large for a float or with thousands of digits,
    lone surrogates, and nesting deeper than MAX_DEPTH.
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite_float)
    except RecursionError:
        raise JSONError(_TOO_DEEP) from None
    except UnicodeDecodeError:
        raise JSONError("it is not valid UTF-8") from None
    except json.JSONDecodeError as error:
        raise JSONError(f"{error.msg} at line {error.lineno}, column {error.colno}") from None
    except JSONError:
        raise
    except ValueError:  # int() refuses numbers of thousands of digits
        raise JSONError("a number in it is too long") from None
    _check(value)
    return value


def dumps(value) -> str:
    """Encodes a value as JSON, with the separators and spelling that chat models are trained on.

    Raises ValueError for NaN and Infinity.
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


_TOO_DEEP = f"it is nested deeper than {MAX_DEPTH} levels"


def _refuse_constant(name: str):
    raise JSONError(f"{name} is not JSON")


def _finite_float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise JSONError("a number in it is too large")
    return number


def _check(value):
    if isinstance(value, dict):
        for field, member in value.items():
            _check_member(field, None, depth=2)
            _check_member(member, field, depth=2)
    else:
        _check_member(value, None, depth=1)


def _check_member(value, field: str | None, depth: int):
    level = [value]
    while level:  # level by level, without recursion: the depth is what is being checked
        containers = [item for item in level if isinstance(item, (dict, list))]
        if containers and depth > MAX_DEPTH:
            raise JSONError(_TOO_DEEP, field)
        if any(isinstance(item, str) and _has_lone_surrogate(item) for item in level):
            raise JSONError("it holds half of a surrogate pair, which is no character", field)
        level = []
        for container in containers:
            level.extend(container)  # a dict gives its keys
            if isinstance(container, dict):
                level.extend(container.values())
        depth += 1


def _has_lone_surrogate(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
