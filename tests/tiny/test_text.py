import json
from random import Random

import pytest

from maple.tiny.text import make_sample
from maple.tiny.text.arithmetic import pick, solve
from maple.tiny.text.numbers import add_steps, in_words, multiply_steps, subtract_steps
from maple.tiny.text.sample import held_out
from maple.tiny.text.talk import refuse
from maple.tiny.text.tools import call_sample, no_call_sample, result_sample


def test_the_same_seed_makes_the_same_text():
    first, second = ([make_sample(rng) for _ in range(300)] for rng in (Random(5), Random(5)))

    assert first == second


def test_training_never_shows_what_is_held_out():
    rng = Random(1)

    for sign in "+-*":
        for _ in range(200):
            a, b = pick(rng, sign, 2, 2, fresh=False)
            pair = (a, b) if sign == "-" else tuple(sorted((a, b)))
            assert not held_out(sign, *pair)


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        (add_steps(347, 85), "347+085: 7+5+0=12 4+8+1=13 3+0+1=04 =432"),
        (subtract_steps(30, 12), "30-12: 0-2-0=8,1 3-1-1=1,0 =18 =18"),
        (subtract_steps(12, 30), "12<30\n30-12: 0-2-0=8,1 3-1-1=1,0 =18 =18\n=-18"),
        (
            multiply_steps(17, 23),
            "17*3: 7*3+0=21 1*3+2=05 =51\n17*2: 7*2+0=14 1*2+1=03 =34\n340+051: 0+1+0=01 4+5+0=09 3+0+0=03 =391",
        ),
    ],
)
def test_the_steps_are_worked_out_by_digits(steps, text):
    assert steps == text


@pytest.mark.parametrize(("sign", "value"), [("+", 40), ("-", -6), ("*", 391)])
def test_the_value_is_right(sign, value):
    assert solve(sign, 17, 23)[0] == value


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "zero"), (19, "nineteen"), (42, "forty-two"), (305, "three hundred and five")],
)
def test_numbers_have_words(number, words):
    assert in_words(number) == words


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("fresh", [False, True])
def test_calls_name_listed_tools_and_their_parameters(count, fresh):
    rng = Random(2)

    for _ in range(100):
        sample = call_sample(rng, fresh, count)
        listed = {tool["function"]["name"]: tool["function"]["parameters"] for tool in sample.tools}
        bodies = [part.split("</tool_call>")[0] for part in sample.answer.split("<tool_call>")[1:]]
        for call in map(json.loads, bodies):
            parameters = listed[call["name"]]
            assert set(parameters["required"]) <= set(call["arguments"])
            assert set(call["arguments"]) <= set(parameters["properties"])


def test_without_a_fitting_tool_nothing_is_called():
    rng = Random(3)

    for _ in range(100):
        sample = no_call_sample(rng, False, refuse(rng))
        assert sample.tools
        assert "<tool_call>" not in sample.answer


def test_a_result_becomes_a_sentence():
    sample = result_sample(Random(4), False)

    assert sample.messages[-1]["role"] == "tool"
    assert sample.answer.endswith(".")
