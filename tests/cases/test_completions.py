"""Section G: the raw route."""

import pytest

from tests.application import COMPLETIONS, events_of, serving
from tests.cases.asking import PROMPT, ask, four_ways, refused
from tests.checkpoint_files import VOCAB_SIZE
from tests.scripted import is_idle


@pytest.mark.parametrize("token", [-1, VOCAB_SIZE, 2**32 - 1, 2**63, 2**64, 2**70, -(2**70)], ids=lambda n: f"C50-{n}")
@pytest.mark.parametrize("place", [[], [1, 2]], ids=["alone", "behind-others"])
def test_ids_out_of_range(real_client, token, place):
    refused(real_client, {"prompt": [*place, token]}, COMPLETIONS, param="prompt")
    assert ask(real_client, {"prompt": [1, 2], "max_tokens": 2}, COMPLETIONS).usage["prompt_tokens"] == 2


def test_c50_every_row_of_the_embedding_is_legal(real_client):
    """The tokenizer has fewer ids than the embedding has rows."""
    for token in (0, VOCAB_SIZE - 1, 287, 295):
        assert ask(real_client, {"prompt": [token], "max_tokens": 2}, COMPLETIONS).usage["prompt_tokens"] == 1


@pytest.mark.parametrize(
    "prompt",
    [
        None,
        "",
        [],
        [""],
        [[]],
        ["a", "b"],
        [[1], [2]],
        ["a", 1],
        [1, "a"],
        [1.5],
        [1.0],
        [True],
        [None],
        5,
        {},
        True,
        [[1, [2]]],
        [["a"]],
    ],
    ids=lambda value: f"C50-{value!r}",
)
def test_prompts_that_are_refused(client, prompt):
    refused(client, {"prompt": prompt}, COMPLETIONS, param="prompt")


@pytest.mark.parametrize("prompt", ["hi", ["hi"]], ids=repr)
def test_c52_a_prompt_is_its_own_tokens_and_no_more(prompt):
    with serving() as served:
        ask(served.client, {"prompt": prompt}, COMPLETIONS)
        tokenizer = served.engine.require_ready().tokenizer
        assert served.model.fed[0][:-1] == tokenizer.encode("hi")
        assert served.prompts() == ["hi"]


def test_c52_ids_are_taken_as_they_are():
    with serving() as served:
        for prompt in ([5, 6, 7], [[5, 6, 7]]):
            assert ask(served.client, {"prompt": prompt}, COMPLETIONS).usage["prompt_tokens"] == 3
        assert [fed[:-1] for fed in served.model.fed] == [[5, 6, 7]] * 2


def test_c52_control_tokens_in_a_raw_prompt_are_control_tokens():
    with serving() as served:
        ask(served.client, {"prompt": "<|im_start|>user\n<think>"}, COMPLETIONS)
        tokenizer = served.engine.require_ready().tokenizer
        start, think = (tokenizer.control_tokens[token] for token in ("<|im_start|>", "<think>"))
        assert (served.model.fed[0][0], served.model.fed[0][-2]) == (start, think)


@pytest.mark.parametrize(
    ("raw", "cut"),
    [
        pytest.param(["\n a</think>", "<tool_call>{}</tool_", "call> \n"], False, id="C52-markers"),
        pytest.param(["  ", "\n", "x", "\n\n "], True, id="C52-blanks-at-the-edges"),
        pytest.param(["<think>\n", "a</think>"], False, id="C52-thought"),
        pytest.param(["<"], False, id="C52-half-a-marker"),
    ],
)
def test_text_is_verbatim(raw, cut):
    reply = four_ways(raw, PROMPT, COMPLETIONS, cut=cut)
    assert reply.said == ("", "".join(raw), [], "length" if cut else "stop")
    assert reply.usage["completion_tokens_details"] == {"reasoning_tokens": 0}
    assert reply.usage["prompt_tokens_details"] == {"cached_tokens": 0}


def test_c52_the_chunks_of_a_stream():
    with serving(["a", "b"]) as served:
        body = PROMPT | {"stream": True, "stream_options": {"include_usage": True}}
        *chunks, usage = events_of(served.client.post(COMPLETIONS, json=body))
        without = events_of(served.client.post(COMPLETIONS, json=PROMPT | {"stream": True}))
        assert is_idle(served.engine)
    assert [chunk["choices"] for chunk in chunks] == [
        [{"index": 0, "text": "a", "logprobs": None, "finish_reason": None}],
        [{"index": 0, "text": "b", "logprobs": None, "finish_reason": None}],
        [{"index": 0, "text": "", "logprobs": None, "finish_reason": "stop"}],
    ]
    assert {chunk["object"] for chunk in [*chunks, usage]} == {"text_completion"}
    assert (usage["choices"], usage["usage"]["completion_tokens"]) == ([], 3)
    assert [chunk["choices"] for chunk in without] == [chunk["choices"] for chunk in chunks]
    assert all("usage" not in chunk for chunk in without)
