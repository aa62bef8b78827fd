"""From messages and tools to prompt ids, through the checkpoint's own chat template."""

import inspect
import logging
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from jinja2.exceptions import TemplateError
from transformers import PreTrainedTokenizerBase

from maple.chat.parser import THINK_CLOSE, THINK_OPEN
from maple.checkpoints.tokenizer import MapleTokenizer
from maple.errors import InvalidRequest

# What the server itself hands to the template, or Transformers would take for itself.
RESERVED_KWARGS = {
    "messages",
    "conversations",
    *inspect.signature(PreTrainedTokenizerBase.apply_chat_template).parameters,
}

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ChatPrompt:
    """Prompt ids, and whether the model goes on inside an open think block."""

    ids: tuple[int, ...]
    in_reasoning: bool


def render_chat(
    tokenizer: MapleTokenizer,
    messages: Sequence[dict],
    tools: Sequence[dict],
    enable_thinking: bool,
    template_kwargs: dict,
) -> ChatPrompt:
    """Renders messages as maple's schemas normalise them. Raises InvalidRequest.

    Only the template's own control tokens become control ids: those a client wrote are replaced by names of no
    meaning while the template runs, and put back as plain text.
    """
    reserved = sorted(RESERVED_KWARGS & template_kwargs.keys())
    if reserved:
        raise InvalidRequest(f"chat_template_kwargs must not set {reserved[0]}", param="chat_template_kwargs")
    disguise = _Disguise(tokenizer.control_tokens)
    text = _apply_template(
        tokenizer,
        [_disguised_message(message, disguise) for message in messages],
        disguise.hide(list(tools)) or None,
        disguise.hide(template_kwargs) | {"enable_thinking": enable_thinking},
    )
    if not enable_thinking and text.rstrip().endswith(THINK_OPEN):
        text += f"\n{THINK_CLOSE}\n\n"
    ids = []
    for part in disguise.split(text):
        if part in tokenizer.control_tokens:
            ids.append(tokenizer.control_tokens[part])
        else:
            ids += tokenizer.encode_plain(disguise.reveal(part))
        tokenizer.check_length(len(ids), "messages")
    return ChatPrompt(tuple(ids), in_reasoning=text.rstrip().endswith(THINK_OPEN))


def _apply_template(tokenizer: MapleTokenizer, messages: list, tools: list | None, kwargs: dict) -> str:
    try:
        return tokenizer.transformers_tokenizer.apply_chat_template(
            messages, tools=tools, tokenize=False, add_generation_prompt=True, **kwargs
        )
    except TemplateError as error:  # includes what the template itself raises
        raise InvalidRequest(f"the model's chat template refuses the messages: {error}", param="messages") from error
    except Exception as error:  # a template may raise anything
        logger.warning("the chat template could not render a request: %s", type(error).__name__)
        raise InvalidRequest("the model's chat template cannot render these messages", param="messages") from error


def _disguised_message(message: dict, disguise: "_Disguise") -> dict:
    hidden = disguise.hide(message)
    # Templates part an assistant's earlier reasoning from its answer by these two.
    if message["role"] == "assistant":
        hidden["content"] = disguise.hide(message["content"], but=(THINK_OPEN, THINK_CLOSE))
    return hidden


class _Disguise:
    """Control tokens written by a client, under names that no template and no escaping changes."""

    def __init__(self, control_tokens: Sequence[str]):
        self._tokens = sorted(control_tokens, key=len, reverse=True)
        self._nonce = secrets.token_hex(8)
        self._any_token = re.compile("(" + "|".join(map(re.escape, self._tokens)) + ")" if self._tokens else "(?!)()")

    def hide(self, value, but: tuple[str, ...] = ()):
        """A copy of a JSON value in which every string, keys included, is disguised."""
        if isinstance(value, str):
            return self._any_token.sub(lambda match: self._name(match.group(), but), value)
        if isinstance(value, dict):
            return {self.hide(key): self.hide(member) for key, member in value.items()}
        if isinstance(value, list):
            return [self.hide(member) for member in value]
        return value

    def reveal(self, text: str) -> str:
        return re.sub(f"{self._nonce}x([0-9]+)x", lambda match: self._tokens[int(match[1])], text)

    def split(self, text: str) -> list[str]:
        """The text cut at its control tokens, these included."""
        return [part for part in self._any_token.split(text) if part]

    def _name(self, token: str, but: tuple[str, ...]) -> str:
        return token if token in but else f"{self._nonce}x{self._tokens.index(token)}x"
