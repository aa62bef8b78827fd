"""Section C: characters."""

import pytest

from tests.application import CHAT, COMPLETIONS, HI, serving
from tests.cases.asking import PROMPT, ask, four_ways, refused

THOUGHT = b"t</think>"
EMOJI = "🫠".encode()


@pytest.mark.parametrize(
    ("raw", "cut", "content"),
    [
        pytest.param([THOUGHT, b"ab", *(EMOJI[i : i + 1] for i in range(3))], True, "ab\ufffd", id="C21-cut-emoji"),
        pytest.param([THOUGHT, b"ab", EMOJI[:2]], False, "ab\ufffd", id="C21-ended-emoji"),
        pytest.param([THOUGHT, b"one \x80", b" two"], False, "one \ufffd two", id="C21-continuation-byte"),
        pytest.param([THOUGHT, b"a\xff", b"\xfeb", b"c"], False, "a\ufffd\ufffdbc", id="C21-invalid-bytes"),
        pytest.param([THOUGHT, "x\ufffd".encode(), b"y"], False, "x\ufffdy", id="C21-written-replacement"),
        pytest.param([THOUGHT, "x\ufffd".encode()], False, "x\ufffd", id="C21-ends-in-a-written-replacement"),
        pytest.param([THOUGHT, EMOJI[:3], EMOJI[3:], b"!"], False, "🫠!", id="C21-whole-emoji"),
    ],
)
def test_bytes(raw, cut, content):
    assert four_ways(raw, cut=cut).said == ("t", content, [], "length" if cut else "stop")
    said = four_ways(raw[1:], PROMPT, COMPLETIONS, cut=cut).said
    assert said == ("", content, [], "length" if cut else "stop")


def test_c21_a_character_cut_off_in_the_thought():
    assert four_ways([b"ab", EMOJI[:3]], cut=True).said == ("ab\ufffd", "", [], "length")


def test_c21_the_cut_emoji_is_followed_by_the_marker():
    assert four_ways([b"ab" + EMOJI[:3], b"</think>", b"x"]).said == ("ab\ufffd", "x", [], "stop")


LONE = b'"x \\ud83d"'
FUNCTION = b'"type":"function","function":{"name":"f"'
USER = b'{"role":"user","content":"a"}'


@pytest.mark.parametrize(
    ("field", "path"),
    [
        (b'"messages":[{"role":"user","content":%s}]', CHAT),
        (b'"messages":[{"role":"user","content":[{"type":"text","text":%s}]}]', CHAT),
        (b'"messages":[{"role":"user","content":"a","name":%s}]', CHAT),
        (b'"messages":[{"role":"tool","content":"a","tool_call_id":%s}]', CHAT),
        (
            b'"messages":[%s,{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"f","arguments":{"a":%%s}}}]}]'
            % USER,
            CHAT,
        ),
        (b'"messages":[%s],"tools":[{"type":"function","function":{"name":%%s}}]' % USER, CHAT),
        (b'"messages":[%s],"tools":[{%s,"parameters":{"a":{"description":%%s}}}}]' % (USER, FUNCTION), CHAT),
        (b'"messages":[%s],"tools":[{%s,"parameters":{%%s:1}}}]' % (USER, FUNCTION), CHAT),
        (b'"messages":[%s],"stop":[%%s]' % USER, CHAT),
        (b'"messages":[%s],"model":%%s' % USER, CHAT),
        (b'"messages":[%s],"user":%%s' % USER, CHAT),
        (b'"messages":[%s],"chat_template_kwargs":{"foo":%%s}' % USER, CHAT),
        (b'"messages":[%s],"metadata":{"foo":%%s}' % USER, CHAT),
        (b'"prompt":%s', COMPLETIONS),
        (b'"prompt":[%s]', COMPLETIONS),
        (b'"prompt":"a","stop":%s', COMPLETIONS),
        (b'"prompt":"a","model":%s', COMPLETIONS),
    ],
)
@pytest.mark.parametrize("stream", [b"false", b"true"])
def test_c23_half_a_surrogate_pair_is_refused_and_a_whole_one_is_not(client, field, path, stream):
    error = refused(client, b'{"stream":%s,%s}' % (stream, field % LONE), path)
    assert error["param"] in (
        "messages",
        "tools",
        "stop",
        "model",
        "user",
        "chat_template_kwargs",
        "metadata",
        "prompt",
    )
    whole = client.post(path, data=b'{"stream":%s,%s}' % (stream, field % b'"x \\ud83d\\ude00"'))
    assert whole.status_code == 200, whole.text


@pytest.mark.parametrize(
    "arguments", ['{"a": "\\ud83d"}', '{"a": "\\ude00\\ud83d"}', '"\\ud83d"'], ids=lambda text: f"C23-{text}"
)
def test_half_a_pair_spelled_within_the_arguments_string(client, arguments):
    call = {"type": "function", "function": {"name": "f", "arguments": arguments}}
    refused(client, {"messages": [{"role": "assistant", "tool_calls": [call]}]})


def test_c23_the_model_is_echoed_as_it_was_written():
    with serving() as served:
        for model in ("é🫠", "a\u2028b", "NaN"):
            for stream in (False, True):
                response = served.client.post(CHAT, json=HI | {"model": model, "stream": stream})
                assert response.status_code == 200
        assert ask(served.client, HI | {"model": ""}).said == ("t", "ok", [], "stop")
