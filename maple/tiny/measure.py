"""Measures the tiny model on prompts that were never in training: `python -m maple.tiny.measure`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

import torch
from transformers import AutoTokenizer

from maple.model import MapleForCausalLM
from maple.tiny import MODEL_PATH
from maple.tiny.text import Sample, arithmetic, mixture, talk, tools, words
from maple.tiny.tokenizer import prompt_text

MAX_NEW, GROUP = 320, 64


@dataclass(frozen=True)
class Measure:
    """A named set of held-out prompts, and the rule that says what is right."""

    name: str
    make: Callable[[Random], Sample]
    is_right: Callable[[Sample, str], bool]


def _same(sample: Sample, answer: str) -> bool:
    return answer == sample.answer


def _calls(answer: str) -> list | None:
    """The calls in an answer, or None where one is not valid JSON."""
    bodies = [part.split("</tool_call>")[0] for part in answer.split("<tool_call>")[1:]]
    try:
        return [json.loads(body) for body in bodies]
    except json.JSONDecodeError:
        return None


def _same_calls(sample: Sample, answer: str) -> bool:
    return _calls(answer) == _calls(sample.answer)


def _no_call(sample: Sample, answer: str) -> bool:
    return "<tool_call>" not in answer


def _sum(sign: str, left: int, right: int, thinking: bool, rng: Random) -> Sample:
    turn = arithmetic.make_turn(rng, True, (sign, left, right))
    return mixture.from_turn(turn, thinking)


def _word(make: Callable, thinking: bool, rng: Random) -> Sample:
    return mixture.from_turn(make(rng, True), thinking)


def _no_call_prompt(rng: Random) -> Sample:
    if rng.random() < 0.5:
        return tools.other_tool_sample(rng, True, talk.refuse(rng))
    return tools.no_call_sample(rng, True, talk.make_turn(rng))


def measures() -> list[Measure]:
    """All measures, in the order of the table."""
    table = [
        Measure("products, 2 x 2 digits", partial(_sum, "*", 2, 2, True), _same),
        Measure("products, 3 x 2 digits", partial(_sum, "*", 3, 2, True), _same),
        Measure("sums up to 999", partial(_sum, "+", 3, 3, True), _same),
        Measure("differences up to 999", partial(_sum, "-", 3, 3, True), _same),
        Measure("sums below 100, thinking off", partial(_sum, "+", 2, 2, False), _same),
        Measure("differences below 100, thinking off", partial(_sum, "-", 2, 2, False), _same),
        Measure("products, 2 x 2, thinking off", partial(_sum, "*", 2, 2, False), _same),
        Measure("one fitting call", lambda rng: tools.call_sample(rng, True, 1), _same_calls),
        Measure("two calls", lambda rng: tools.call_sample(rng, True, 2), _same_calls),
        Measure("one call, thinking off", lambda rng: tools.call_sample(rng, True, 1, False), _same_calls),
        Measure("no call when none fits", _no_call_prompt, _no_call),
        Measure("tool result to sentence", lambda rng: tools.result_sample(rng, True), _same),
        Measure("say a word", partial(_word, words.echo, True), _same),
        Measure("say a word, thinking off", partial(_word, words.echo, False), _same),
        Measure("spell a word", partial(_word, words.spell, True), _same),
        Measure("count the letters", partial(_word, words.length, True), _same),
        Measure("count one letter", partial(_word, words.letter, True), _same),
        Measure("small talk", lambda rng: mixture.from_turn(talk.small_talk(rng), True), _same),
        Measure("refusals", lambda rng: mixture.from_turn(talk.refuse(rng), True), _same),
    ]
    return table


@torch.inference_mode()
def complete(model: MapleForCausalLM, tokenizer, samples: list[Sample]) -> Iterator[tuple[str, bool]]:
    """For each sample in turn: the answer after the thought, and whether the turn was ended."""
    for start in range(0, len(samples), GROUP):
        group = samples[start : start + GROUP]
        texts = [prompt_text(tokenizer, sample) for sample in group]
        inputs = tokenizer(texts, return_tensors="pt", padding=True, padding_side="left")
        inputs.pop("token_type_ids", None)
        output = model.generate(**inputs, max_new_tokens=MAX_NEW, do_sample=False, eos_token_id=tokenizer.eos_token_id)
        for sample, ids in zip(group, output[:, inputs["input_ids"].shape[1] :], strict=True):
            ended = bool((ids == tokenizer.eos_token_id).any())
            text = tokenizer.decode(ids, skip_special_tokens=True)
            yield text.partition("</think>\n\n")[2] if sample.thinking else text, ended


def run(model: MapleForCausalLM, tokenizer, count: int, seed: int, show: int = 0) -> dict[str, float]:
    """Prints the table; returns the share that is right for each measure, and of ended turns."""
    figures, all_ended = {}, 0
    table = measures()
    for measure in table:
        rng = Random(f"measure/{seed}/{measure.name}")
        samples = [measure.make(rng) for _ in range(count)]
        answers = list(complete(model, tokenizer, samples))
        wrong = [(s, a) for s, (a, _) in zip(samples, answers, strict=True) if not measure.is_right(s, a)]
        all_ended += sum(ended for _, ended in answers)
        figures[measure.name] = 1 - len(wrong) / count
        print(f"| {measure.name:36} | {100 * figures[measure.name]:5.1f} |", flush=True)
        for sample, answer in wrong[:show]:
            print(f"    {sample.messages[-1]['content']!r}\n    got {answer!r}\n    not {sample.answer!r}")
    figures["turns ended"] = all_ended / count / len(table)
    print(f"| {'turns ended':36} | {100 * figures['turns ended']:5.1f} |")
    return figures


def main():
    """Measures the model in a directory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=MODEL_PATH)
    parser.add_argument("--count", type=int, default=400, help="prompts for each measure")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=0, help="print so many wrong answers of each")
    options = parser.parse_args()
    tokenizer = AutoTokenizer.from_pretrained(options.model)
    model = MapleForCausalLM.from_pretrained(options.model, dtype=torch.float32).eval()
    run(model, tokenizer, options.count, options.seed, options.show)


if __name__ == "__main__":
    main()
