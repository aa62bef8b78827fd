"""A checkpoint's tokenizer: text to ids with and without control tokens, and ids to bytes."""

import json
import logging
from pathlib import Path

from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast
from transformers.convert_slow_tokenizer import bytes_to_unicode

from maple.errors import CheckpointError, ContextLengthExceeded, InvalidRequest

# Marked special or not, these belong to the text: the output parser needs to see them.
MARKERS = ("<think>", "</think>", "<tool_call>", "</tool_call>")

# Texts of more characters a token than nearly all have are counted slice by slice first.
USUAL_CHARACTERS = 4
SLICE_CHARACTERS = 65_536

logger = logging.getLogger(__name__)

_BYTE_OF_CHARACTER = {character: byte for byte, character in bytes_to_unicode().items()}


class MapleTokenizer:
    """A byte-level BPE tokenizer. Every method may be called by any number of threads at once.

    max_tokens: what a prompt may have; of texts that are much longer not even the ids are made.
    """

    def __init__(self, transformers_tokenizer: PreTrainedTokenizerFast, max_tokens: int):
        self.transformers_tokenizer = transformers_tokenizer
        self.max_tokens = max_tokens
        description = json.loads(transformers_tokenizer.backend_tokenizer.to_str())
        decoder = description.get("decoder") or {}
        parts = [part.get("type") for part in decoder.get("decoders", [decoder])]
        if parts != ["ByteLevel"]:
            raise CheckpointError(f"tokenizer.json: the decoder is {parts}, Maple's is ByteLevel")
        added = transformers_tokenizer.added_tokens_decoder
        self.control_tokens = {token.content: token_id for token_id, token in added.items()}
        self._hidden_ids = {
            token_id for token_id, token in added.items() if token.special and token.content not in MARKERS
        }
        self._added_bytes = {token_id: token.content.encode() for token_id, token in added.items()}
        # Copies of our own: Transformers switches flags on its backend while other threads encode.
        description["padding"] = description["truncation"] = description["post_processor"] = None
        self._tokenizer = Tokenizer.from_str(json.dumps(description))
        self._plain_tokenizer = Tokenizer.from_str(json.dumps(description | {"added_tokens": []}))

    @classmethod
    def from_directory(cls, directory: Path, max_tokens: int) -> "MapleTokenizer":
        """Reads tokenizer.json and its companions. Raises CheckpointError."""
        if not (directory / "tokenizer.json").exists():
            raise CheckpointError(f"{directory / 'tokenizer.json'} is missing")
        try:
            tokenizer = PreTrainedTokenizerFast.from_pretrained(
                directory,
                clean_up_tokenization_spaces=False,
                fix_mistral_regex=False,
                trust_remote_code=False,
            )
        except Exception as error:  # the libraries raise errors of many kinds, bare Exception among them
            raise CheckpointError(f"the tokenizer in {directory} cannot be read: {error}") from error
        _try_template(tokenizer)
        return cls(tokenizer, max_tokens)

    def encode(self, text: str) -> list[int]:
        """Ordinary encoding: control tokens written in the text become their ids; nothing is added.

        Raises ContextLengthExceeded if the text is much too long, InvalidRequest if it cannot be encoded.
        """
        return self._encode(self._tokenizer, text, "prompt")

    def encode_plain(self, text: str) -> list[int]:
        """Encoding in which control tokens written in the text are text like any other; raises as encode()."""
        return self._encode(self._plain_tokenizer, text, "messages")

    def bytes_of(self, token_id: int) -> bytes:
        """The UTF-8 bytes a token stands for: none for control tokens such as <|im_end|> and for unused ids."""
        if token_id in self._hidden_ids:
            return b""
        if token_id in self._added_bytes:
            return self._added_bytes[token_id]
        token = self._tokenizer.id_to_token(token_id)
        return bytes(_BYTE_OF_CHARACTER[character] for character in token) if token else b""

    def check_length(self, num_tokens: int, field: str) -> None:
        """Raises ContextLengthExceeded, for that request field, if a prompt must not have so many tokens."""
        if num_tokens > self.max_tokens:
            message = f"the prompt is too long: at most {self.max_tokens} tokens are taken"
            raise ContextLengthExceeded(message, param=field)

    def _encode(self, tokenizer: Tokenizer, text: str, field: str) -> list[int]:
        if len(text) > USUAL_CHARACTERS * self.max_tokens:
            # A cut makes some tokens more or fewer, hence the margin.
            margin, num_tokens = self.max_tokens // 16, 0
            for start in range(0, len(text), SLICE_CHARACTERS):
                num_tokens += len(_ids(tokenizer, text[start : start + SLICE_CHARACTERS]))
                self.check_length(num_tokens - margin, field)
        return _ids(tokenizer, text)


def _try_template(tokenizer: PreTrainedTokenizerFast) -> None:
    try:
        if not tokenizer.apply_chat_template(
            [{"role": "user", "content": "x"}], tokenize=False, add_generation_prompt=True
        ):
            raise ValueError("it renders to nothing")
    except Exception as error:  # a template may raise anything
        reason = " ".join(str(error).split())
        raise CheckpointError(f"the chat template is missing or cannot be rendered: {reason}") from error


def _ids(tokenizer: Tokenizer, text: str) -> list[int]:
    try:
        # As a batch of one: only then are other threads let run meanwhile.
        return tokenizer.encode_batch([text], add_special_tokens=False)[0].ids
    except BaseException as error:  # its panics are no Exceptions
        logger.warning("a text of %d characters could not be split into tokens: %s", len(text), type(error).__name__)
        raise InvalidRequest("the text cannot be split into tokens") from error
