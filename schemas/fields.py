"""Field classes stricter than marshmallow's own: a value of another type is refused, never converted.

Every message is the end of a sentence that begins with the field's path ("temperature must be a number").
"""

import math

from marshmallow import ValidationError, fields


class StrictField(fields.Field):
    """The common base: only the exact JSON types in json_types pass."""

    default_error_messages = {  # noqa: RUF012 - marshmallow's interface
        "required": "is required",
        "null": "must not be null",
    }
    json_types: tuple[type, ...] = ()

    def _deserialize(self, value, attr, data, **kwargs):
        # type(), not isinstance(): a bool is an int to Python, and not to JSON.
        if type(value) not in self.json_types:
            raise self.make_error("invalid")
        return value


class Boolean(StrictField):
    """true or false; neither 1 nor "false"."""

    default_error_messages = {"invalid": "must be true or false"}  # noqa: RUF012
    json_types = (bool,)


class Integer(StrictField):
    """A whole number within limits, both included."""

    default_error_messages = {"invalid": "must be an integer"}  # noqa: RUF012
    json_types = (int,)

    def __init__(self, low: int | None = None, high: int | None = None, **kwargs):
        super().__init__(**kwargs)
        self._low, self._high = low, high
        limits = [f"at least {low}"] if low is not None else []
        limits += [f"at most {high}"] if high is not None else []
        self.error_messages["range"] = f"must be {' and '.join(limits)}"

    def _deserialize(self, value, attr, data, **kwargs):
        number = super()._deserialize(value, attr, data, **kwargs)
        if (self._low is not None and number < self._low) or (self._high is not None and number > self._high):
            raise self.make_error("range")
        return number


class Number(StrictField):
    """An integer or a float within limits, loaded as a float. The low limit itself is out if above_low."""

    default_error_messages = {"invalid": "must be a number"}  # noqa: RUF012
    json_types = (int, float)

    def __init__(self, low: float, high: float = math.inf, *, above_low: bool = False, **kwargs):
        super().__init__(**kwargs)
        self._low, self._high, self._above_low = low, high, above_low
        limit = f"above {low:g}" if above_low else f"at least {low:g}"
        self.error_messages["range"] = f"must be {limit}" + (f" and at most {high:g}" if high < math.inf else "")

    def _deserialize(self, value, attr, data, **kwargs):
        value = super()._deserialize(value, attr, data, **kwargs)
        try:
            number = float(value)
        except OverflowError:
            raise self.make_error("range") from None
        # Written as what is allowed, so that NaN is refused too.
        is_allowed = self._low < number if self._above_low else self._low <= number
        if not (is_allowed and number <= self._high and math.isfinite(number)):
            raise self.make_error("range")
        return number


class String(StrictField):
    """Any string; with non_empty, at least one character, with longest, at most so many."""

    default_error_messages = {"invalid": "must be a string", "empty": "must not be empty"}  # noqa: RUF012
    json_types = (str,)

    def __init__(self, *, non_empty: bool = False, longest: int | None = None, **kwargs):
        super().__init__(**kwargs)
        self._non_empty = non_empty
        self._longest = longest
        self.error_messages["long"] = f"must have at most {longest} characters"

    def _deserialize(self, value, attr, data, **kwargs):
        text = super()._deserialize(value, attr, data, **kwargs)
        if self._non_empty and not text:
            raise self.make_error("empty")
        if self._longest is not None and len(text) > self._longest:
            raise self.make_error("long")
        return text


class Choice(String):
    """One of a few strings."""

    def __init__(self, *choices: str, **kwargs):
        super().__init__(**kwargs)
        self._choices = choices
        self.error_messages["choice"] = f"must be {'one of ' if len(choices) > 1 else ''}{', '.join(choices)}"

    def _deserialize(self, value, attr, data, **kwargs):
        if type(value) is not str or value not in self._choices:
            raise self.make_error("choice")
        return value


class Object(StrictField):
    """A JSON object, passed on as it is."""

    default_error_messages = {"invalid": "must be an object"}  # noqa: RUF012
    json_types = (dict,)


class List(fields.List):
    """A JSON array of at most `most` members; with non_empty, of at least one."""

    default_error_messages = {  # noqa: RUF012
        "required": "is required",
        "null": "must not be null",
        "invalid": "must be a list",
        "empty": "must not be empty",
    }

    def __init__(self, member: fields.Field, *, most: int, non_empty: bool = False, **kwargs):
        super().__init__(member, **kwargs)
        self._non_empty, self._most = non_empty, most
        self.error_messages["long"] = f"must have at most {most} members"

    def _deserialize(self, value, attr, data, **kwargs):
        if type(value) is not list:  # marshmallow's own also takes an object, as the list of its keys
            raise self.make_error("invalid")
        if self._non_empty and not value:
            raise self.make_error("empty")
        if len(value) > self._most:  # before each member costs time and, if wrong, a message
            raise self.make_error("long")
        members = []
        for index, member in enumerate(value):
            try:
                members.append(self.inner.deserialize(member, **kwargs))
            except ValidationError as error:  # the first is all that is told, so no more are looked for
                raise ValidationError({index: error.messages}) from None
        return members


class Nested(fields.Nested):
    """An object with a schema of its own."""

    default_error_messages = {"required": "is required", "null": "must be an object"}  # noqa: RUF012


class StopStrings(StrictField):
    """A string or a list of strings, none of them empty, loaded as a tuple; each token is compared with all."""

    most, longest = 64, 4096

    default_error_messages = {  # noqa: RUF012
        "invalid": "must be a string or a list of strings",
        "empty": "must not hold an empty string",
        "long": f"must have at most {most} strings of at most {longest} characters",
    }
    json_types = (str, list)

    def _deserialize(self, value, attr, data, **kwargs):
        value = super()._deserialize(value, attr, data, **kwargs)
        stops = (value,) if type(value) is str else tuple(value)
        if any(type(stop) is not str for stop in stops):
            raise self.make_error("invalid")
        if "" in stops:
            raise self.make_error("empty")
        if len(stops) > self.most or any(len(stop) > self.longest for stop in stops):
            raise self.make_error("long")
        return stops
