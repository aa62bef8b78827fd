"""The tiny model's tokenizer: byte-level BPE made from the generated text, and its template."""

from __future__ import annotations

from pathlib import Path
from random import Random

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from maple.tiny.text import Sample, make_sample

VOCAB_SIZE = 1024
_TEMPLATE = Path(__file__).parent / "chat_template.jinja"
_CONTROLS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
_MARKERS = ("<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>")


def _blank() -> Tokenizer:
    """No merges yet; digits and line ends always stand alone."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split("\n", "isolated"),
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def _texts(samples: int, seed: int):
    rng = Random(seed)
    for _ in range(samples):
        sample = make_sample(rng)
        yield from (str(message["content"]) for message in sample.messages)
        yield from (tool["function"].get("description", "") for tool in sample.tools)
        yield f"{sample.thought}\n{sample.answer}"


def build_tokenizer(seed: int = 0, samples: int = 20000) -> PreTrainedTokenizerFast:
    """Learns the merges from generated text; the same seed gives the same tokenizer."""
    tokenizer = _blank()
    controls = [AddedToken(text, special=True, normalized=False) for text in _CONTROLS]
    markers = [AddedToken(text, special=False, normalized=False) for text in _MARKERS]
    trainer = trainers.BpeTrainer(
        vocab_size=VOCAB_SIZE - len(controls) - len(markers),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_texts(samples, seed), trainer)
    tokenizer.add_special_tokens(controls)
    tokenizer.add_tokens(markers)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        chat_template=_TEMPLATE.read_text(encoding="utf-8"),
        clean_up_tokenization_spaces=False,
    )


def prompt_text(tokenizer: PreTrainedTokenizerFast, sample: Sample) -> str:
    """The prompt as the server renders it; thinking off closes the thought at once."""
    text = tokenizer.apply_chat_template(
        list(sample.messages),
        tools=list(sample.tools) or None,
        add_generation_prompt=True,
        tokenize=False,
    )
    return text if sample.thinking else f"{text}\n</think>\n\n"
