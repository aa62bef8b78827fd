import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maple.tiny.text import Sample
from maple.tiny.tokenizer import build_tokenizer, prompt_text

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the weather of a city",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer"},
                "unit": {"type": "string", "enum": ["c", "f"]},
            },
            "required": ["city"],
        },
    },
}
ASK = {"role": "user", "content": "Weather in Lagos?"}
CALL = {"type": "function", "function": {"name": "get_weather", "arguments": {"city": "Lagos"}}}
TURN_START = "<|im_start|>assistant\n<think>\n"


@pytest.fixture(scope="module")
def tokenizer():
    return build_tokenizer(samples=300)


def render(tokenizer, *messages, tools=None):
    return tokenizer.apply_chat_template(list(messages), tools=tools, add_generation_prompt=True, tokenize=False)


def test_the_same_seed_makes_the_same_tokenizer(tokenizer):
    again = build_tokenizer(samples=300)

    assert again.backend_tokenizer.to_str() == tokenizer.backend_tokenizer.to_str()


@settings(deadline=None)
@given(st.text())
def test_any_text_comes_back(tokenizer, text):
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_digits_and_line_ends_stand_alone(tokenizer):
    assert tokenizer.tokenize("391\n\n") == ["3", "9", "1", "\u010a", "\u010a"]


def test_only_the_chat_controls_are_special(tokenizer):
    text = "<think></think><tool_call></tool_call><|im_start|><|im_end|><|endoftext|>"
    ids = tokenizer.encode(text)

    assert len(ids) == 7
    assert tokenizer.decode(ids, skip_special_tokens=True) == text[: text.index("<|")]


def test_a_question_ends_in_an_open_thought(tokenizer):
    assert render(tokenizer, ASK) == f"<|im_start|>user\nWeather in Lagos?<|im_end|>\n{TURN_START}"


def test_thinking_off_closes_the_thought(tokenizer):
    sample = Sample("weather", (ASK,), "", "", thinking=False)

    assert prompt_text(tokenizer, sample).endswith("<think>\n\n</think>\n\n")


def test_tools_are_listed_in_the_system_turn(tokenizer):
    text = render(tokenizer, {"role": "system", "content": "Be brief."}, ASK, tools=[WEATHER])

    assert text.startswith(
        "<|im_start|>system\nBe brief.\n\nTools:\n- Get the weather of a city: get_weather"
        ' {"city": "string", "days": integer?, "unit": "c|f?"}\n<|im_end|>\n'
    )


def test_calls_and_results_are_rendered(tokenizer):
    reply = {"role": "assistant", "content": None, "tool_calls": [CALL, CALL]}
    results = [{"role": "tool", "content": text} for text in ("sunny", "rain")]
    call = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Lagos"}}\n</tool_call>'

    text = render(tokenizer, ASK, reply, *results)

    assert text.endswith(
        f"<|im_start|>assistant\n{call}\n{call}<|im_end|>\n<|im_start|>user\n<tool_response>\nsunny\n"
        "</tool_response>\n<tool_response>\nrain\n</tool_response><|im_end|>\n" + TURN_START
    )


def test_only_reasoning_after_the_last_question_stays(tokenizer):
    reply = {"role": "assistant", "content": "Hm.", "reasoning_content": "secret"}
    result = {"role": "tool", "content": "sunny"}

    assert "<think>\nsecret\n</think>\n\nHm." in render(tokenizer, ASK, reply, result)
    assert "secret" not in render(tokenizer, ASK, reply, ASK)
