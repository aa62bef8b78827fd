"""A checkpoint's tokenizer: text to ids with and without control tokens, and ids to bytes."""

import json
from pathlib import Path

from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast
from transformers.convert_slow_tokenizer import bytes_to_unicode

from maple.errors import CheckpointError

# Marked special or not, these belong to the text: the output parser needs to see them.
MARKERS = ("<think>", "</think>", "<tool_call>", "</tool_call>")

_BYTE_OF_CHARACTER = {character: byte for byte, character in bytes_to_unicode().items()}


class MapleTokenizer:
    """A byte-level BPE tokenizer. Every method may be called by any number of threads at once."""

    def __init__(self, transformers_tokenizer: PreTrainedTokenizerFast):
        self.transformers_tokenizer = transformers_tokenizer
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
    def from_directory(cls, directory: Path) -> "MapleTokenizer":
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
        return cls(tokenizer)

    def encode(self, text: str) -> list[int]:
        """Ordinary encoding: control tokens written in the text become their ids; nothing is added."""
        return _encode(self._tokenizer, text)

    def encode_plain(self, text: str) -> list[int]:
        """Encoding in which control tokens written in the text are text like any other."""
        return _encode(self._plain_tokenizer, text)

    def bytes_of(self, token_id: int) -> bytes:
        """The UTF-8 bytes a token stands for: none for control tokens such as <|im_end|> and for unused ids."""
        if token_id in self._hidden_ids:
            return b""
        if token_id in self._added_bytes:
            return self._added_bytes[token_id]
        token = self._tokenizer.id_to_token(token_id)
        return bytes(_BYTE_OF_CHARACTER[character] for character in token) if token else b""


def _try_template(tokenizer: PreTrainedTokenizerFast) -> None:
    try:
        tokenizer.apply_chat_template([{"role": "user", "content": ""}], tokenize=False, add_generation_prompt=True)
    except Exception as error:  # a template may raise anything
        reason = " ".join(str(error).split())
        raise CheckpointError(f"the chat template is missing or cannot be rendered: {reason}") from error


def _encode(tokenizer: Tokenizer, text: str) -> list[int]:
    # As a batch of one: only then are other threads let run meanwhile.
    return tokenizer.encode_batch([text], add_special_tokens=False)[0].ids
