import dataclasses

import pytest
import torch

from maple.engine.decoding import PROMPT_CHUNK, Cancelled, decode
from maple.engine.requests import SamplingParams
from maple.engine.streamer import TokenStreamer
from tests.scripted import GREEDY, a_request, scripted_checkpoint


def never():
    return False


def after(calls):
    """Asked for the given number of times, it says no; from then on yes."""
    answers = iter([False] * calls)
    return lambda: next(answers, True)


def run(checkpoint, request, is_cancelled=never):
    """Finish reason or "cancelled", text and number of tokens."""
    streamer = TokenStreamer(checkpoint.tokenizer, request.stop)
    try:
        reason = decode(checkpoint, request, streamer, is_cancelled)
    except Cancelled:
        reason = "cancelled"
    streamer.end()
    return reason, "".join(streamer), streamer.num_tokens


def test_the_end_token_ends_the_turn_and_counts():
    assert run(scripted_checkpoint(["a", "b", "c"]), a_request()) == ("stop", "abc", 4)


def test_an_empty_turn():
    assert run(scripted_checkpoint([]), a_request()) == ("stop", "", 1)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_limit_ends_with_length(number):
    assert run(scripted_checkpoint(["a", "b", "c"]), a_request(max_new_tokens=number)) == (
        "length",
        "abc"[:number],
        number,
    )


def test_the_end_token_within_the_limit_is_a_stop():
    assert run(scripted_checkpoint(["a", "b"]), a_request(max_new_tokens=3)) == ("stop", "ab", 3)


@pytest.mark.parametrize(("prompt", "room"), [(97, 3), (99, 1), (60, 40)])
def test_the_end_of_the_context_ends_with_length(prompt, room):
    checkpoint = scripted_checkpoint(["x"], ends=False, context_length=100)
    request = a_request([1] * prompt, max_new_tokens=1000)
    assert run(checkpoint, request) == ("length", "x" * room, room)
    assert len(checkpoint.model.fed[0]) == 99  # the last token drawn is not fed


def test_a_stop_string_ends_with_stop_at_the_token_that_completes_it():
    checkpoint = scripted_checkpoint(["one ", "fo", "ur", " five"], ends=False)
    assert run(checkpoint, a_request(stop=["four"])) == ("stop", "one ", 3)


def test_a_stop_string_completed_by_the_last_token_allowed_is_a_stop():
    assert run(scripted_checkpoint(["a", "b"]), a_request(max_new_tokens=2, stop=["b"])) == ("stop", "a", 2)


def test_every_end_id_ends_the_turn():
    checkpoint = scripted_checkpoint(["a", "b", "c"])
    ends = dataclasses.replace(checkpoint, end_ids=checkpoint.end_ids | {checkpoint.model.ids[2]})
    assert run(ends, a_request()) == ("stop", "ab", 3)


def test_cancelled_before_it_began_it_feeds_nothing():
    checkpoint = scripted_checkpoint(["a"], ends=False)
    assert run(checkpoint, a_request(), after(0)) == ("cancelled", "", 0)
    assert checkpoint.model.fed == []


@pytest.mark.parametrize("tokens", [1, 2, 7])
def test_cancelling_takes_effect_within_one_token(tokens):
    checkpoint = scripted_checkpoint(["a"], ends=False)
    assert run(checkpoint, a_request(), after(tokens)) == ("cancelled", "a" * tokens, tokens)


def test_cancelling_takes_effect_between_the_chunks_of_a_prompt():
    checkpoint = scripted_checkpoint(["a"])
    assert run(checkpoint, a_request([1] * (3 * PROMPT_CHUNK)), after(2)) == ("cancelled", "", 0)
    assert checkpoint.model.fed == [[1] * (2 * PROMPT_CHUNK)]


def test_cancelling_takes_effect_between_the_layers_of_a_real_model(real_checkpoint):
    asked = []

    def at_the_third_layer():
        asked.append(True)
        return len(asked) == 3

    request = a_request([5] * 20)
    assert run(real_checkpoint, request, at_the_third_layer) == ("cancelled", "", 0)
    assert len(asked) == 3
    assert run(real_checkpoint, request)[2] > 0  # no hook is left behind


@pytest.mark.parametrize("length", [1, PROMPT_CHUNK - 1, PROMPT_CHUNK, PROMPT_CHUNK + 1, 3 * PROMPT_CHUNK + 5])
def test_the_prompt_is_fed_whole_and_once(length):
    checkpoint = scripted_checkpoint(["a", "b"])
    prompt = [number % 200 for number in range(length)]
    run(checkpoint, a_request(prompt))
    assert checkpoint.model.fed == [prompt + list(checkpoint.model.ids)]


PROMPTS = {
    "one token": [5],
    "short": list(range(40, 60)),
    "beyond the window and a chunk": [(7 * number) % 300 for number in range(PROMPT_CHUNK + 45)],
}


@pytest.mark.parametrize("prompt", PROMPTS.values(), ids=PROMPTS)
@pytest.mark.parametrize("penalty", [1.0, 1.4])
def test_greedy_output_of_a_real_model_is_that_of_generate(real_checkpoint, prompt, penalty):
    request = a_request(prompt, 40, sampling=dataclasses.replace(GREEDY, repetition_penalty=penalty))
    with torch.inference_mode():
        expected = real_checkpoint.model.generate(
            torch.tensor([prompt]),
            attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
            max_new_tokens=40,
            do_sample=False,
            repetition_penalty=penalty,
            eos_token_id=sorted(real_checkpoint.end_ids),
        )[0, len(prompt) :].tolist()
    taken = Recorder(real_checkpoint, request)
    decode(real_checkpoint, request, taken, never)
    assert taken.ids == [token for token in expected if token not in real_checkpoint.end_ids]
    assert len(set(taken.ids)) > 1


class Recorder(TokenStreamer):
    """Keeps the ids it is given."""

    def __init__(self, checkpoint, request):
        super().__init__(checkpoint.tokenizer, request.stop)
        self.ids = []

    def put(self, token_id):
        self.ids.append(token_id)
        super().put(token_id)


def test_the_same_seed_gives_the_same_text(real_checkpoint):
    def text(seed):
        sampling = SamplingParams(temperature=1.0, top_p=0.95, top_k=20, repetition_penalty=1.1, seed=seed)
        return run(real_checkpoint, a_request([5, 6, 7], 30, sampling=sampling))

    assert text(1) == text(1)
    assert text(1) != text(2)
    assert text(None) != text(None)


@pytest.mark.parametrize("temperature", [1e-45, 1e-9, 1e-5, 2])
@pytest.mark.parametrize("top_k", [0, 1, 1_000_000])
@pytest.mark.parametrize("top_p", [1e-9, 1])
@pytest.mark.parametrize("penalty", [1e-9, 1, 1e9])
def test_edge_values_generate_with_a_real_model(real_checkpoint, temperature, top_k, top_p, penalty):
    sampling = SamplingParams(temperature, top_p, top_k, penalty, seed=3)
    assert run(real_checkpoint, a_request([5, 6], 2, sampling=sampling))[0] in ("stop", "length")


def test_a_stop_string_completed_by_a_character_cut_off_is_a_stop():
    checkpoint = scripted_checkpoint(["ab", b"\xf0\x9f", "c"])
    assert run(checkpoint, a_request(max_new_tokens=2, stop=["\ufffd"])) == ("stop", "ab", 2)
    assert run(checkpoint, a_request(max_new_tokens=2)) == ("length", "ab\ufffd", 2)
