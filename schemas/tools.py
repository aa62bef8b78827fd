"""Tools, and which of them a request lets the model see."""

from collections.abc import Sequence

from marshmallow import ValidationError

from schemas.base import ObjectSchema
from schemas.fields import Choice, Nested, Object, StrictField, String


class FunctionSchema(ObjectSchema):
    name = String(required=True, non_empty=True)
    description = String()
    parameters = Object()


class ToolSchema(ObjectSchema):
    type = Choice("function", required=True)
    function = Nested(FunctionSchema, required=True)


class Tool(StrictField):
    """A function tool, checked by ToolSchema and loaded as it was sent, other keys included."""

    default_error_messages = {"invalid": "must be an object"}  # noqa: RUF012 - marshmallow's interface
    json_types = (dict,)

    def _deserialize(self, value, attr, data, **kwargs):
        tool = super()._deserialize(value, attr, data, **kwargs)
        errors = ToolSchema().validate(tool)
        if errors:
            raise ValidationError(errors)
        return tool


class ToolChoice(StrictField):
    """ "none", "auto", "required", or an object that names one function; loaded as it was sent."""

    default_error_messages = {  # noqa: RUF012
        "invalid": 'must be "none", "auto", "required" or an object that names a function'
    }
    json_types = (str, dict)

    def _deserialize(self, value, attr, data, **kwargs):
        choice = super()._deserialize(value, attr, data, **kwargs)
        if type(choice) is str:
            if choice not in ("none", "auto", "required"):
                raise self.make_error("invalid")
            return choice
        function = choice.get("function")
        names_one = choice.get("type") == "function" and type(function) is dict and type(function.get("name")) is str
        if not names_one:
            raise self.make_error("invalid")
        return choice


def visible_tools(tools: Sequence[dict], choice: str | dict) -> tuple[dict, ...]:
    """The tools the model is shown. Raises ValidationError if the choice names none of them."""
    if choice == "none":
        return ()
    if isinstance(choice, str):
        return tuple(tools)
    name = choice["function"]["name"]
    named = tuple(tool for tool in tools if tool["function"]["name"] == name)
    if not named:
        raise ValidationError("names a function that is not among the tools", "tool_choice")
    return named
