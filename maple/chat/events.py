"""What the output parser finds in the model's text."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReasoningText:
    text: str


@dataclass(frozen=True, slots=True)
class ContentText:
    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call; arguments is a JSON object as text."""

    id: str
    name: str
    arguments: str


Event = ReasoningText | ContentText | ToolCall
