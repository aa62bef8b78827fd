"""POST /v1/chat/completions: the request."""

from dataclasses import dataclass, field

from schemas.base import ObjectSchema
from schemas.fields import Boolean, List, Nested, Object
from schemas.generation import GenerationOptions, GenerationSchema
from schemas.messages import MessageSchema
from schemas.tools import Tool, ToolChoice, visible_tools


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest(GenerationOptions):
    """A chat request. messages have the form of MessageSchema; tools are those the model is shown."""

    messages: tuple[dict, ...]
    tools: tuple[dict, ...] = ()
    enable_thinking: bool | None = None
    template_kwargs: dict = field(default_factory=dict)
    include_reasoning: bool | None = None


class TemplateKwargsSchema(ObjectSchema):
    enable_thinking = Boolean()


class TemplateKwargs(Object):
    """Arguments for the chat template: any object, in which enable_thinking is true, false or null."""

    def _deserialize(self, value, attr, data, **kwargs):
        template_kwargs = super()._deserialize(value, attr, data, **kwargs)
        TemplateKwargsSchema().load(template_kwargs)
        return template_kwargs


class ResponseFormat(Object):
    """{"type": "text"}, or json_object, which is taken and not enforced."""

    default_error_messages = {"type": "must have the type text or json_object; others are not supported"}  # noqa: RUF012

    def _deserialize(self, value, attr, data, **kwargs):
        response_format = super()._deserialize(value, attr, data, **kwargs)
        if response_format.get("type") not in ("text", "json_object"):
            raise self.make_error("type")
        return response_format


class ChatSchema(GenerationSchema):
    request_class = ChatRequest
    refused = {"n": 1, "logprobs": False, "top_logprobs": 0}  # noqa: RUF012 - never changed

    messages = List(Nested(MessageSchema), most=10_000, required=True, non_empty=True)
    tools = List(Tool(), most=1024)
    tool_choice = ToolChoice()
    response_format = ResponseFormat()
    chat_template_kwargs = TemplateKwargs()
    include_reasoning = Boolean()

    def finish(self, values: dict) -> dict:
        values.pop("response_format", None)
        values["messages"] = tuple(values["messages"])
        values["tools"] = visible_tools(values.get("tools", ()), values.pop("tool_choice", "auto"))
        template_kwargs = dict(values.pop("chat_template_kwargs", {}))
        values["enable_thinking"] = template_kwargs.pop("enable_thinking", None)
        values["template_kwargs"] = template_kwargs
        return values
