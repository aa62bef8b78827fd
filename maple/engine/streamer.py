"""From generated ids to text, on the generating thread."""

import codecs
from bisect import bisect_right

from transformers import TextIteratorStreamer

from maple.checkpoints.tokenizer import MapleTokenizer
from maple.engine.stops import StopMatcher


class TokenStreamer(TextIteratorStreamer):
    """A TextIteratorStreamer that hands text on with each token, up to a stop string.

    Bytes are decoded as they come: at most an unfinished character is held back, and bytes that are no UTF-8
    become U+FFFD. The text is the same however the ids cut it.
    """

    def __init__(self, tokenizer: MapleTokenizer, stops: tuple[str, ...] = ()):
        super().__init__(tokenizer.transformers_tokenizer)
        self._bytes_of = tokenizer.bytes_of
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._stops = StopMatcher(stops)
        self._text_ends: list[int] = []  # characters of raw text after each token

    @property
    def num_tokens(self) -> int:
        return len(self._text_ends)

    @property
    def has_stopped(self) -> bool:
        """Whether a stop string is complete."""
        return self._stops.matched

    def put(self, token_id: int) -> None:
        """Takes the next generated id."""
        self._hand_on(self._bytes_of(token_id))

    def put_end_token(self) -> None:
        """Counts the token that ended the turn; it has no text."""
        self._hand_on(b"")

    def put_no_more(self) -> None:
        """An unfinished character will stay so: it becomes U+FFFD, which may complete a stop string."""
        self._release(self._decoder.decode(b"", final=True))

    def end(self) -> None:
        """Hands on what was held back and ends the iteration."""
        self.put_no_more()
        self.on_finalized_text(self._stops.finish(), stream_end=True)

    def num_tokens_before(self, offset: int) -> int:
        """How many tokens lie wholly before a character offset of the raw text."""
        return bisect_right(self._text_ends, offset)

    def _hand_on(self, octets: bytes) -> None:
        text = self._decoder.decode(octets)
        self._text_ends.append((self._text_ends[-1] if self._text_ends else 0) + len(text))
        self._release(text)

    def _release(self, text: str) -> None:
        if released := self._stops.feed(text):
            self.on_finalized_text(released)
