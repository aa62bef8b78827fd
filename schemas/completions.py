"""POST /v1/completions: the request."""

from dataclasses import dataclass

from schemas.fields import StrictField
from schemas.generation import GenerationOptions, GenerationSchema


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionRequest(GenerationOptions):
    """A raw completion request. prompt is text, or token ids that nobody has checked against the vocabulary."""

    prompt: str | tuple[int, ...]


class Prompt(StrictField):
    """A string, token ids, or a list that holds one of either."""

    default_error_messages = {  # noqa: RUF012 - marshmallow's interface
        "invalid": "must be a string, a list of token ids, or a list that holds one of either",
        "empty": "must not be empty",
        "many": "must hold one prompt only",
    }
    json_types = (str, list)

    def _deserialize(self, value, attr, data, **kwargs):
        prompt = super()._deserialize(value, attr, data, **kwargs)
        if type(prompt) is list and prompt and type(prompt[0]) in (str, list):
            if len(prompt) > 1:
                raise self.make_error("many")
            prompt = prompt[0]
        if not prompt:
            raise self.make_error("empty")
        if type(prompt) is str:
            return prompt
        if any(type(token_id) is not int for token_id in prompt):
            raise self.make_error("invalid")
        return tuple(prompt)


class CompletionSchema(GenerationSchema):
    request_class = CompletionRequest
    refused = {"n": 1, "best_of": 1, "echo": False, "suffix": "", "logprobs": False}  # noqa: RUF012 - never changed

    prompt = Prompt(required=True)
