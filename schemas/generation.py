"""The fields both generating routes share."""

import json
import logging
from dataclasses import dataclass
from typing import ClassVar

from marshmallow import ValidationError, post_load, pre_load

from schemas.base import ObjectSchema, invalid_request
from schemas.fields import Boolean, Integer, Nested, Number, StopStrings, String

logger = logging.getLogger(__name__)

# Named in the contract as without effect. Other names nobody knows are ignored too, with a line in the debug log.
IGNORED = frozenset({"presence_penalty", "frequency_penalty", "user"})


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationOptions:
    """How to generate and how to deliver it. None: not given, the settings decide."""

    model: str | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    repetition_penalty: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    stream: bool = False
    include_usage: bool = False


class StreamOptionsSchema(ObjectSchema):
    include_usage = Boolean(load_default=False)


class GenerationSchema(ObjectSchema):
    """The base of both request schemas. A subclass names its dataclass and the fields it refuses."""

    request_class: ClassVar[type[GenerationOptions]]
    refused: ClassVar[dict[str, object]]  # name of an unsupported field -> the one value that asks for nothing

    model = String(longest=256)  # it is sent back with every chunk
    max_tokens = Integer(low=1)
    max_completion_tokens = Integer(low=1)
    temperature = Number(low=0, high=2)
    top_p = Number(low=0, high=1, above_low=True)
    top_k = Integer(low=-1, high=2**31 - 1)
    repetition_penalty = Number(low=0, above_low=True)
    seed = Integer(low=-(2**63), high=2**64 - 1)
    stop = StopStrings()
    stream = Boolean()
    stream_options = Nested(StreamOptionsSchema)

    def parse(self, body: dict) -> GenerationOptions:
        """A decoded body as a frozen request_class. Raises InvalidRequest with the path of the first error."""
        try:
            return self.load(body)
        except ValidationError as error:
            raise invalid_request(error) from None

    @pre_load
    def _refuse_unsupported(self, data, **_):
        for name, accepted in self.refused.items():
            value = data.get(name)
            if value is not None and (type(value) is not type(accepted) or value != accepted):
                raise ValidationError(f"must be {json.dumps(accepted)}", name)
        unknown = data.keys() - self.fields.keys() - self.refused.keys() - IGNORED
        if unknown:
            logger.debug("ignored fields: %.500s", sorted(unknown))
        return data

    @pre_load
    def _drop_idle_stream_options(self, data, **_):
        if data.get("stream") is True:
            return data
        return {name: value for name, value in data.items() if name != "stream_options"}

    @post_load
    def _to_request(self, values: dict, **_):
        newer = values.pop("max_completion_tokens", None)
        if newer is not None:
            values["max_tokens"] = newer
        values.update(values.pop("stream_options", {}))
        return self.request_class(**self.finish(values))

    def finish(self, values: dict) -> dict:
        """The subclass's last step: validated fields to the arguments of request_class."""
        return values
