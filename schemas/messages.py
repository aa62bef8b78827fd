"""Chat messages: whatever clients send as a history, as plain dictionaries of one form."""

from marshmallow import post_load

from maple import strict_json
from schemas.base import ObjectSchema
from schemas.fields import Choice, List, Nested, StrictField, String


class Content(StrictField):
    """A string or a list of text parts, loaded as one string."""

    default_error_messages = {  # noqa: RUF012 - marshmallow's interface
        "invalid": "must be a string or a list of text parts",
        "part": 'may hold only parts of the form {{"type": "text", "text": "..."}}; this model reads text only',
    }
    json_types = (str, list)

    def _deserialize(self, value, attr, data, **kwargs):
        value = super()._deserialize(value, attr, data, **kwargs)
        if type(value) is str:
            return value
        for part in value:
            if type(part) is not dict or part.get("type") != "text" or type(part.get("text")) is not str:
                raise self.make_error("part")
        return "".join(part["text"] for part in value)


class Arguments(StrictField):
    """A call's arguments: an object, or a string that holds one, loaded as the object."""

    default_error_messages = {  # noqa: RUF012
        "invalid": "must be an object or a string that holds one as JSON",
        "json": "is not valid JSON: {reason}",
    }
    json_types = (str, dict)

    def _deserialize(self, value, attr, data, **kwargs):
        value = super()._deserialize(value, attr, data, **kwargs)
        if type(value) is str:
            try:
                value = strict_json.loads(value) if value.strip() else {}
            except strict_json.JSONError as error:
                raise self.make_error("json", reason=error) from None
        if type(value) is not dict:
            raise self.make_error("invalid")
        return value


class CalledFunctionSchema(ObjectSchema):
    name = String(required=True, non_empty=True)
    arguments = Arguments(load_default=dict)


class ToolCallSchema(ObjectSchema):
    id = String(load_default="")
    type = Choice("function", load_default="function")
    function = Nested(CalledFunctionSchema, required=True)


class MessageSchema(ObjectSchema):
    """One message, loaded as {"role", "content"} and what its role may have beside them."""

    role = Choice("system", "developer", "user", "assistant", "tool", required=True)
    content = Content(load_default="")
    name = String()
    reasoning_content = String()
    reasoning = String()
    tool_calls = List(Nested(ToolCallSchema), most=1024)
    tool_call_id = String()

    @post_load
    def _normalise(self, values: dict, **_) -> dict:
        role = "system" if values["role"] == "developer" else values["role"]
        message = {"role": role, "content": values["content"]}
        if "name" in values:
            message["name"] = values["name"]
        if role == "assistant":
            reasoning = values.get("reasoning_content", values.get("reasoning"))
            if reasoning is not None:
                message["reasoning_content"] = reasoning
            if values.get("tool_calls"):
                message["tool_calls"] = values["tool_calls"]
        if role == "tool" and "tool_call_id" in values:
            message["tool_call_id"] = values["tool_call_id"]
        return message
