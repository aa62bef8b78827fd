"""Section A: splitting the reasoning from the answer."""

import pytest

from tests.application import CHAT, HI, events_of, serving
from tests.cases.asking import TOOL_F, TOOLS, ask, four_ways, refused
from tests.scripted import is_idle

THINKING_OFF = {"chat_template_kwargs": {"enable_thinking": False}}
F = '<tool_call>{"name":"f","arguments":{}}</tool_call>'


@pytest.mark.parametrize(
    "raw",
    [
        ["We add", " 2</", "thi", "nk", ">39", "1"],
        *[["We add 2" + "</think>"[:n], "</think>"[n:] + "391"] for n in range(1, 8)],
    ],
    ids=lambda raw: f"C01-{'|'.join(raw)}",
)
def test_the_marker_in_pieces(raw):
    assert four_ways(raw).said == ("We add 2", "391", [], "stop")


def test_c01_no_delta_holds_a_piece_of_the_marker():
    with serving(["We add", " 2</", "thi", "nk", ">39", "1"]) as served:
        events = events_of(served.client.post(CHAT, json=HI | {"stream": True}))
    assert [event["choices"][0]["delta"] for event in events] == [
        {"role": "assistant", "content": ""},
        {"reasoning_content": "We add"},
        {"reasoning_content": " 2"},
        {"content": "39"},
        {"content": "1"},
        {},
    ]


@pytest.mark.parametrize(
    ("raw", "cut", "said"),
    [
        pytest.param(
            ["ok</think>", "if a <", " b then <tool"], False, ("ok", "if a < b then <tool", [], "stop"), id="C02"
        ),
        pytest.param(
            ["ok</think>", "if a <", " b then <tool"], True, ("ok", "if a < b then <tool", [], "length"), id="C02-cut"
        ),
        pytest.param(["x </thi"], True, ("x </thi", "", [], "length"), id="C02-thought-cut"),
        pytest.param(["x </thi"], False, ("x </thi", "", [], "stop"), id="C02-thought"),
        pytest.param(["plan", "</think>", "done"], False, ("plan", "done", [], "stop"), id="C03"),
        pytest.param(["one ", "two ", "three"], True, ("one two three", "", [], "length"), id="C05-cut"),
        pytest.param(["just thinking"], False, ("just thinking", "", [], "stop"), id="C05"),
        pytest.param(["maybe ", F, " no", "</think>", "Done"], False, (f"maybe {F} no", "Done", [], "stop"), id="C09"),
        pytest.param(
            ["say <tool_call> then", " stop</think>Done"],
            False,
            ("say <tool_call> then stop", "Done", [], "stop"),
            id="C09-unfinished",
        ),
        pytest.param(["a</think>\n\nb</think>c"], False, ("a", "bc", [], "stop"), id="D1-second-marker"),
        pytest.param(["<think>\na</think>b"], False, ("a", "b", [], "stop"), id="D1-opening-marker"),
    ],
)
@pytest.mark.parametrize("body", [HI, TOOLS], ids=["no-tools", "tools"])
def test_split(raw, cut, said, body):
    assert four_ways(raw, body, cut=cut).said == said


def test_c02_held_text_is_released_when_a_stop_string_ends_it():
    assert four_ways(["t</think>a <", "/th", "\nUser:"], HI | {"stop": "\nUser:"}).said == ("t", "a </th", [], "stop")


def test_c02_a_sign_is_not_delayed_beyond_the_next_piece():
    with serving(["ok</think>", "if a <", " b"]) as served:
        events = events_of(served.client.post(CHAT, json=HI | {"stream": True}))
    contents = [event["choices"][0]["delta"].get("content") for event in events]
    assert contents == ["", None, "if a", " < b", None]


@pytest.mark.parametrize(
    ("raw", "cut", "reasoning_tokens", "completion_tokens"),
    [
        pytest.param(["one ", "two ", "three"], True, 3, 3, id="C05-cut"),
        pytest.param(["one ", "two"], False, 3, 3, id="C05"),
        pytest.param(["a"] * 27 + ["</think>", "\n\n", "3", "9", "1"], False, 27, 33, id="D18"),
        pytest.param(["plan</", "think>", "x"], False, 0, 4, id="D18-marker-in-the-first-token"),
        pytest.param(["plan", "\n", "</think>", "x"], False, 2, 5, id="D18-newline-before-the-marker"),
        pytest.param(["</think>", "x"], False, 0, 3, id="D18-no-thought"),
    ],
)
def test_reasoning_is_counted_in_tokens(raw, cut, reasoning_tokens, completion_tokens):
    usage = four_ways(raw, cut=cut).usage
    assert usage["completion_tokens_details"] == {"reasoning_tokens": reasoning_tokens}
    assert usage["completion_tokens"] == completion_tokens


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        pytest.param(["391"], ("", "391", [], "stop"), id="C06"),
        pytest.param(["3</thi", "nk>91"], ("", "391", [], "stop"), id="C06-stray-marker"),
        pytest.param([F], ("", None, [("f", "{}")], "tool_calls"), id="C06-call"),
    ],
)
@pytest.mark.parametrize(
    ("extra", "settings"), [(THINKING_OFF, {}), ({}, {"enable_thinking": False})], ids=["request", "setting"]
)
def test_thinking_off(raw, said, extra, settings):
    reply = four_ways(raw, TOOLS | extra, **settings)
    assert reply.said == said
    assert reply.usage["completion_tokens_details"] == {"reasoning_tokens": 0}


def test_c06_the_prompt_closes_the_block_and_the_request_has_the_last_word():
    with serving(enable_thinking=False) as served:
        ask(served.client, HI)
        ask(served.client, HI | {"chat_template_kwargs": {"enable_thinking": True}})
        closed, open_ = served.prompts()
    assert closed.endswith("<|im_start|>assistant\n<think>\n\n</think>\n\n")
    assert open_.endswith("<|im_start|>assistant\n<think>\n")


@pytest.mark.parametrize(
    "value", [None, {}, {"enable_thinking": None}, {"enable_thinking": True}, {"foo": 1}], ids=lambda v: f"C07-{v}"
)
def test_template_arguments_that_are_taken(client, value):
    assert ask(client, HI | {"chat_template_kwargs": value}).said == ("t", "ok", [], "stop")


@pytest.mark.parametrize(
    "value",
    [
        [],
        "x",
        5,
        True,
        {"enable_thinking": "false"},
        {"enable_thinking": 0},
        {"enable_thinking": []},
        {"tokenize": True},
        {"messages": []},
        {"tools": 1},
        {"add_generation_prompt": False},
        {"conversation": []},
        {"conversations": []},
        {"chat_template": "x"},
        {"continue_final_message": True},
    ],
    ids=lambda value: f"C07-{value}",
)
def test_template_arguments_that_are_refused(client, value):
    assert refused(client, HI | {"chat_template_kwargs": value})["param"].startswith("chat_template_kwargs")


RAW_C11 = ["long ", "thought", "</think>", "391"]


@pytest.mark.parametrize(
    ("extra", "settings", "is_shown"),
    [
        pytest.param({"include_reasoning": False}, {}, False, id="C11"),
        pytest.param({}, {"include_reasoning": False}, False, id="C11-setting"),
        pytest.param({"include_reasoning": None}, {}, True, id="C11-null"),
        pytest.param({"include_reasoning": True}, {"include_reasoning": False}, True, id="C11-request-over-setting"),
    ],
)
def test_hidden_reasoning(extra, settings, is_shown):
    reply = four_ways(RAW_C11, HI | extra, **settings)
    assert reply.said == ("long thought" if is_shown else "", "391", [], "stop")
    assert reply.usage["completion_tokens_details"] == {"reasoning_tokens": 2}
    with serving(RAW_C11, **settings) as served:
        for stream in (False, True):
            text = served.client.post(CHAT, json=HI | extra | {"stream": stream}).text
            assert ("reasoning_content" in text) == is_shown
            assert ("thought" in text) == is_shown


def test_c11_no_empty_deltas_in_place_of_thoughts():
    with serving(RAW_C11) as served:
        events = events_of(served.client.post(CHAT, json=HI | {"stream": True, "include_reasoning": False}))
    assert [event["choices"][0]["delta"] for event in events] == [
        {"role": "assistant", "content": ""},
        {"content": "391"},
        {},
    ]


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
@pytest.mark.parametrize("value", ["c", None, ...], ids=["C13-text", "C13-null", "C13-absent"])
def test_reasoning_in_the_history(field, value):
    """The tiny template shows it when the assistant's message is the last one."""
    answer = {"role": "assistant", "content": "b"} | ({} if value is ... else {field: value})
    history = [{"role": "user", "content": "a"}, answer]
    with serving() as served:
        ask(served.client, {"messages": [*history, {"role": "user", "content": "d"}]})
        ask(served.client, {"messages": history})
        assert ("<think>\nc\n</think>" in served.prompts()[1]) == (value == "c")
        assert is_idle(served.engine)


@pytest.mark.parametrize("value", [5, ["c"], {}, True])
def test_c13_reasoning_that_is_no_text_is_refused(client, value):
    messages = [{"role": "assistant", "content": "b", "reasoning_content": value}]
    refused(client, {"messages": messages}, param="messages[0].reasoning_content")


def test_c09_a_draft_goes_on_streaming():
    with serving(["say <tool_call> ", "then ", "stop", "</think>Done"]) as served:
        events = events_of(served.client.post(CHAT, json=HI | {"tools": [TOOL_F], "stream": True}))
    thoughts = [event["choices"][0]["delta"].get("reasoning_content") for event in events]
    assert thoughts == [None, "say <tool_call> ", "then ", "stop", None, None]
