"""One chat answer in the making."""

from maple.chat.events import ContentText, Event, ReasoningText
from maple.chat.parser import OutputParser
from maple.engine import Generation
from schemas import responses
from schemas.responses import ReplyHeader


class ChatReply:
    """Takes raw text and gives chunks; keeps what it gave, so that whole() says the same as the stream."""

    def __init__(self, model: str, in_reasoning: bool, allows_tools: bool, include_reasoning: bool):
        self._header = ReplyHeader.new("chatcmpl", model)
        self._parser = OutputParser(in_reasoning, allows_tools)
        self._in_reasoning = in_reasoning
        self._include_reasoning = include_reasoning
        self._content: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[dict] = []

    def opening(self) -> list[dict]:
        """The chunks before any text."""
        return [responses.chat_chunk(self._header, {"role": "assistant", "content": ""})]

    def feed(self, text: str) -> list[dict]:
        """The chunks that more raw text makes."""
        return self._chunks(self._parser.feed(text))

    def finish(self) -> list[dict]:
        """The chunks of what the parser held back."""
        return self._chunks(self._parser.finish())

    def closing(self, generation: Generation, include_usage: bool) -> list[dict]:
        """The chunks after all text, of a finished generation."""
        chunks = [responses.chat_chunk(self._header, {}, self._finish_reason(generation))]
        if include_usage:
            chunks.append(responses.chat_usage_chunk(self._header, self._usage(generation)))
        return chunks

    def whole(self, generation: Generation) -> dict:
        """The reply that is not streamed, of a finished generation."""
        content = "".join(self._content)
        message = {"role": "assistant", "content": None if self._calls and not content else content}
        if self._reasoning:
            message["reasoning_content"] = "".join(self._reasoning)
        if self._calls:
            message["tool_calls"] = self._calls
        return responses.chat_completion(
            self._header, message, self._finish_reason(generation), self._usage(generation)
        )

    def _chunks(self, events: list[Event]) -> list[dict]:
        deltas = [delta for event in events if (delta := self._delta(event)) is not None]
        return [responses.chat_chunk(self._header, delta) for delta in deltas]

    def _delta(self, event: Event) -> dict | None:
        if isinstance(event, ReasoningText):
            if not self._include_reasoning:
                return None
            self._reasoning.append(event.text)
            return {"reasoning_content": event.text}
        if isinstance(event, ContentText):
            self._content.append(event.text)
            return {"content": event.text}
        call = responses.tool_call(event.id, event.name, event.arguments)
        self._calls.append(call)
        return {"tool_calls": [{"index": len(self._calls) - 1, **call}]}

    def _finish_reason(self, generation: Generation) -> str:
        return "tool_calls" if self._calls and generation.finish_reason == "stop" else generation.finish_reason

    def _usage(self, generation: Generation) -> dict:
        if self._parser.reasoning_end is not None:
            reasoning_tokens = generation.tokens_before(self._parser.reasoning_end)
        else:
            reasoning_tokens = generation.completion_tokens if self._in_reasoning else 0
        return responses.usage(
            generation.prompt_tokens, generation.completion_tokens, generation.cached_tokens, reasoning_tokens
        )
