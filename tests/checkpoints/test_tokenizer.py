import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maple.checkpoints import tokenizer as tokenizer_module
from maple.checkpoints.tokenizer import MapleTokenizer
from maple.errors import CheckpointError, ContextLengthExceeded, InvalidRequest
from tests.checkpoint_files import CONTROL_TOKENS, MARKER_TOKENS, VOCAB_SIZE, token_ids, write_tokenizer

IDS = token_ids()
MAX_TOKENS = 100
TEXT = "Hello the world\n\n🍁 é € naïve <|im_end|> <think>\n</tool_call> it's 42 \u2028"


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    directory = tmp_path_factory.mktemp("tokenizer")
    write_tokenizer(directory)
    return MapleTokenizer.from_directory(directory, MAX_TOKENS)


def test_control_tokens_written_in_text_become_their_ids(tokenizer):
    ids = tokenizer.encode("<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n<think>\n")
    assert ids[0] == IDS["<|im_start|>"]
    assert ids[-2] == IDS["<think>"]
    assert [ids.count(IDS[token]) for token in ("<|im_start|>", "<|im_end|>", "<|endoftext|>")] == [2, 1, 0]


def test_control_tokens_written_in_plain_text_are_text(tokenizer):
    ids = tokenizer.encode_plain(TEXT)
    assert not set(ids) & set(IDS.values())
    assert b"".join(map(tokenizer.bytes_of, ids)).decode() == TEXT


def test_control_tokens_are_known_by_name(tokenizer):
    assert tokenizer.control_tokens == IDS


@pytest.mark.parametrize("token", CONTROL_TOKENS)
def test_special_tokens_stand_for_no_text(tokenizer, token):
    assert tokenizer.bytes_of(IDS[token]) == b""


@pytest.mark.parametrize("token", MARKER_TOKENS)
def test_markers_stand_for_themselves(tokenizer, token):
    assert tokenizer.bytes_of(IDS[token]) == token.encode()


def test_unused_ids_stand_for_no_text(tokenizer):
    assert len(tokenizer.transformers_tokenizer) < VOCAB_SIZE  # there are such ids
    assert {tokenizer.bytes_of(i) for i in range(len(tokenizer.transformers_tokenizer), VOCAB_SIZE)} == {b""}


def test_every_byte_has_a_token(tokenizer):
    single = {tokenizer.bytes_of(i) for i in range(VOCAB_SIZE)}
    assert {bytes([i]) for i in range(256)} <= single


def test_tokens_may_end_inside_a_character(tokenizer):
    pieces = [tokenizer.bytes_of(i) for i in tokenizer.encode("🍁€")]
    assert pieces == ["🍁".encode()[:3], "🍁".encode()[3:], "€".encode()[:2], "€".encode()[2:]]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_bytes_of_all_ids_are_the_normalised_text(tokenizer, text):
    normalised = tokenizer.transformers_tokenizer.backend_tokenizer.normalizer.normalize_str(text)
    for ids in (tokenizer.encode(text), tokenizer.encode_plain(text)):
        assert b"".join(map(tokenizer.bytes_of, ids)).decode() == normalised


def test_padding_and_truncation_switched_on_elsewhere_have_no_effect(tmp_path):
    write_tokenizer(tmp_path)
    content = json.loads((tmp_path / "tokenizer.json").read_text())
    content["truncation"] = {"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0}
    (tmp_path / "tokenizer.json").write_text(json.dumps(content))
    tokenizer = MapleTokenizer.from_directory(tmp_path, MAX_TOKENS)
    assert b"".join(map(tokenizer.bytes_of, tokenizer.encode("Hello the world"))) == b"Hello the world"
    assert b"".join(map(tokenizer.bytes_of, tokenizer.encode_plain("Hello the world"))) == b"Hello the world"


def test_marker_marked_special_is_still_text(tmp_path):
    write_tokenizer(tmp_path)
    content = json.loads((tmp_path / "tokenizer.json").read_text())
    for token in content["added_tokens"]:
        token["special"] = True
    (tmp_path / "tokenizer.json").write_text(json.dumps(content))
    tokenizer = MapleTokenizer.from_directory(tmp_path, MAX_TOKENS)
    assert tokenizer.bytes_of(IDS["</think>"]) == b"</think>"
    assert tokenizer.bytes_of(IDS["<tool_response>"]) == b""


def test_missing_file_is_named(tmp_path):
    with pytest.raises(CheckpointError, match=r"tokenizer\.json is missing"):
        MapleTokenizer.from_directory(tmp_path, MAX_TOKENS)


def test_damaged_file_is_refused(tmp_path):
    write_tokenizer(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(CheckpointError, match="cannot be read"):
        MapleTokenizer.from_directory(tmp_path, MAX_TOKENS)


def test_tokenizer_of_another_kind_is_refused(tmp_path):
    write_tokenizer(tmp_path)
    content = json.loads((tmp_path / "tokenizer.json").read_text())
    content["decoder"] = {"type": "WordPiece", "prefix": "##", "cleanup": True}
    (tmp_path / "tokenizer.json").write_text(json.dumps(content))
    with pytest.raises(CheckpointError, match="WordPiece"):
        MapleTokenizer.from_directory(tmp_path, MAX_TOKENS)


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        (None, "chat_template"),
        ("{% if %}", "Expected an expression"),
        ("{{ raise_exception('not me') }}", "not me"),
        ("{# #}", "nothing"),
    ],
)
def test_a_template_that_is_missing_or_broken_is_refused(tmp_path, template, reason):
    write_tokenizer(tmp_path)
    (tmp_path / "chat_template.jinja").unlink()
    if template is not None:
        (tmp_path / "chat_template.jinja").write_text(template)
    with pytest.raises(CheckpointError, match=reason):
        MapleTokenizer.from_directory(tmp_path, MAX_TOKENS)


@pytest.mark.parametrize("encode", ["encode", "encode_plain"])
def test_of_a_text_that_is_much_too_long_only_the_first_slices_are_encoded(tokenizer, monkeypatch, encode):
    monkeypatch.setattr(tokenizer_module, "SLICE_CHARACTERS", 50)
    encoded = []
    ids = tokenizer_module._ids
    monkeypatch.setattr(tokenizer_module, "_ids", lambda inner, text: encoded.append(text) or ids(inner, text))
    with pytest.raises(ContextLengthExceeded, match=str(MAX_TOKENS)):
        getattr(tokenizer, encode)("x" * 10_000)
    assert sum(map(len, encoded)) <= MAX_TOKENS * 2


def test_a_long_text_of_few_tokens_is_encoded(tokenizer):
    text = " the" * 95 + "\n\n"  # one token each
    assert len(text) > 3 * MAX_TOKENS
    assert len(tokenizer.encode(text)) == 96
    assert len(tokenizer.encode(" world" * 99)) == 99  # beyond four characters a token


def test_the_length_of_a_prompt_is_checked_to_the_token(tokenizer):
    tokenizer.check_length(MAX_TOKENS, "prompt")
    with pytest.raises(ContextLengthExceeded) as caught:
        tokenizer.check_length(MAX_TOKENS + 1, "messages")
    assert caught.value.param == "messages"


def test_a_panic_of_the_library_is_the_texts_fault(tokenizer, monkeypatch):
    class PanicError(BaseException):
        pass

    class Panicking:
        def encode_batch(self, *_, **__):
            raise PanicError

    monkeypatch.setattr(tokenizer, "_tokenizer", Panicking())
    with pytest.raises(InvalidRequest, match="tokens"):
        tokenizer.encode("x")
