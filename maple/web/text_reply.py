"""One raw completion in the making: the text as it is."""

from maple.engine import Generation
from schemas import responses
from schemas.responses import ReplyHeader


class TextReply:
    """As ChatReply, without a parser."""

    def __init__(self, model: str):
        self._header = ReplyHeader.new("cmpl", model)
        self._text: list[str] = []

    def opening(self) -> list[dict]:
        return []

    def feed(self, text: str) -> list[dict]:
        if not text:
            return []
        self._text.append(text)
        return [responses.text_chunk(self._header, text)]

    def finish(self) -> list[dict]:
        return []

    def closing(self, generation: Generation, include_usage: bool) -> list[dict]:
        chunks = [responses.text_chunk(self._header, "", generation.finish_reason)]
        if include_usage:
            chunks.append(responses.text_usage_chunk(self._header, self._usage(generation)))
        return chunks

    def whole(self, generation: Generation) -> dict:
        return responses.text_completion(
            self._header, "".join(self._text), generation.finish_reason, self._usage(generation)
        )

    def _usage(self, generation: Generation) -> dict:
        return responses.usage(
            generation.prompt_tokens, generation.completion_tokens, generation.cached_tokens, reasoning_tokens=0
        )
