"""Section F: parameters."""

import pytest

from tests.application import CHAT, COMPLETIONS, HI, serving, strictly
from tests.cases.asking import PROMPT, ask, refused
from tests.scripted import is_idle

ROUTES = pytest.mark.parametrize(("path", "body"), [(CHAT, HI), (COMPLETIONS, PROMPT)], ids=["chat", "completions"])

SHARED = ["model", "temperature", "top_p", "top_k", "max_tokens", "max_completion_tokens", "stop", "seed", "stream"]
SHARED += ["stream_options", "n", "logprobs", "user", "repetition_penalty", "presence_penalty", "frequency_penalty"]
OF_CHAT = ["tools", "tool_choice", "top_logprobs", "response_format", "include_reasoning", "chat_template_kwargs"]
OF_COMPLETIONS = ["echo", "suffix", "best_of"]


@pytest.mark.parametrize(
    ("path", "body", "names"),
    [(CHAT, HI, SHARED + OF_CHAT), (COMPLETIONS, PROMPT, SHARED + OF_COMPLETIONS)],
    ids=["C41-chat", "C41-completions"],
)
def test_null_is_absent(client, path, body, names):
    plain = ask(client, body, path)
    assert ask(client, body | dict.fromkeys(names), path) == plain
    for name in names:
        assert ask(client, body | {name: None}, path) == plain


@pytest.fixture(scope="module")
def endless():
    with serving(["x"], ends=False, max_new_tokens=5, max_new_tokens_limit=9) as served:
        yield served.client
        assert is_idle(served.engine)


@pytest.mark.parametrize(
    ("limits", "tokens"),
    [
        ({}, 5),
        ({"max_tokens": 3}, 3),
        ({"max_completion_tokens": 3}, 3),
        ({"max_tokens": None, "max_completion_tokens": 3}, 3),
        ({"max_tokens": 3, "max_completion_tokens": None}, 3),
        ({"max_tokens": 8, "max_completion_tokens": 3}, 3),
        ({"max_tokens": 3, "max_completion_tokens": 8}, 8),
        ({"max_tokens": 9}, 9),
        ({"max_tokens": 10}, 9),
        ({"max_tokens": 100_000_000}, 9),
        ({"max_completion_tokens": 10**30}, 9),
        ({"max_tokens": 1}, 1),
    ],
    ids=lambda value: f"C42-{value}",
)
@ROUTES
@pytest.mark.parametrize("stream", [False, True])
def test_token_limits(endless, path, body, limits, tokens, stream):
    reply = ask(endless, body | limits, path, stream)
    assert (reply.usage["completion_tokens"], reply.finish_reason) == (tokens, "length")
    assert reply.content + reply.reasoning == "x" * tokens


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
@pytest.mark.parametrize("value", [0, -1, 1.5, 2.0, "3", True, [], {}], ids=lambda value: f"D6-{value!r}")
@ROUTES
def test_token_limits_that_are_refused(client, path, body, name, value):
    refused(client, body | {name: value}, path, param=name)
    refused(client, body | {"max_tokens": 3, "max_completion_tokens": 3, name: value}, path, param=name)


NUMBERS = ["temperature", "top_p", "top_k", "repetition_penalty", "seed", "presence_penalty", "max_tokens", "metadata"]


@pytest.mark.parametrize("value", [b"NaN", b"Infinity", b"-Infinity", b"1e999", b"[NaN]", b'{"a":-1e999}'])
@pytest.mark.parametrize("stream", [b"false", b"true"])
@pytest.mark.parametrize(
    ("path", "start"), [(CHAT, b'"messages":[{"role":"user","content":"hi"}]'), (COMPLETIONS, b'"prompt":"hi"')]
)
def test_c44_what_is_no_json_number(client, path, start, value, stream):
    for name in NUMBERS:
        refused(client, b'{%s,"stream":%s,"%s":%s}' % (start, stream, name.encode(), value), path)


def test_c44_within_a_tool_schema(client):
    body = (
        b'{"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":'
        b'{"name":"f","parameters":{"properties":{"x":{"maximum":%s}}}}}]}'
    )
    for value in (b"NaN", b"1e999"):
        refused(client, body % value)
    assert client.post(CHAT, data=body % b"1e30").status_code == 200


TAKEN = {
    "temperature": [0, 1, 2, 0.7, 1e-9, 1e-45, 1e-5],
    "top_k": [0, -1, 1, 1_000_000, 2**31 - 1],
    "top_p": [1, 0.5, 1e-9, 1e-300],
    "repetition_penalty": [1, 1.1, 0.5, 1e-9, 1e9],
    "seed": [0, 1, -1, 2**63, -(2**63), 2**64 - 1],
}
REFUSED = {
    "temperature": [-0.1, 2.1, "0.5", True, [], -1e-300, 10**400],
    "top_k": [-2, 2.5, "1", True, 2**31, 10**400],
    "top_p": [0, 1.1, -0.5, "1", True],
    "repetition_penalty": [0, -1, "1", True, 10**400],
    "seed": [0.5, "1", True, 2**64, -(2**63) - 1],
    "stream": ["true", 1, 0, []],
    "model": [5, True, []],
    "include_reasoning": ["false", 0],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in TAKEN.items() for value in values])
@ROUTES
def test_c45_edge_values_generate_with_a_real_model(real_client, path, body, name, value):
    sampled = {"temperature": 1, "top_k": 0, "top_p": 1, "max_tokens": 3}
    assert ask(real_client, body | sampled | {name: value}, path).usage["completion_tokens"] <= 3


@pytest.mark.parametrize("penalty", [1e-45, 1e-300, 1e38, 1e300])
def test_c45_a_penalty_out_of_all_proportion_is_no_server_error(real_client, penalty):
    body = HI | {"repetition_penalty": penalty, "temperature": 1, "max_tokens": 4}
    assert real_client.post(CHAT, json=body).status_code in (200, 400)


@pytest.mark.parametrize(
    ("name", "value"),
    [pytest.param(name, value, id=f"C45-{name}-{value!r:.30}") for name, values in REFUSED.items() for value in values],
)
@ROUTES
def test_values_that_are_refused(client, path, body, name, value):
    if name == "stream":
        assert strictly(client.post(path, json=body | {name: value}).text)["error"]["param"] == "stream"
    elif path == CHAT or name != "include_reasoning":
        refused(client, body | {name: value}, path, param=name)


UNSUPPORTED = {
    CHAT: {
        "n": ([1], [0, 2, -1, 1.5, "1", True]),
        "logprobs": ([False], [True, 1, "false", 0]),
        "top_logprobs": ([0], [1, 5, "0", False]),
        "response_format": (
            [{"type": "text"}, {"type": "json_object"}],
            [{"type": "json_schema", "json_schema": {"name": "a", "schema": {}}}, {"type": "x"}, {}, "text", []],
        ),
    },
    COMPLETIONS: {
        "n": ([1], [0, 2, True]),
        "logprobs": ([], [0, 1, 5, True]),
        "echo": ([False], [True, 0, "false"]),
        "suffix": ([""], ["x", 1]),
        "best_of": ([1], [2, 0, True]),
    },
}
CASES = [
    pytest.param(path, name, value, position == 0, id=f"C47-{path}-{name}-{value!r}")
    for path, names in UNSUPPORTED.items()
    for name, groups in names.items()
    for position, values in enumerate(groups)
    for value in values
]


@pytest.mark.parametrize(("path", "name", "value", "is_taken"), CASES)
def test_what_is_unsupported_is_refused_and_what_asks_for_nothing_is_taken(client, path, name, value, is_taken):
    body = (HI if path == CHAT else PROMPT) | {name: value}
    if is_taken:
        ask(client, body, path)
    else:
        refused(client, body, path, param=name)


def test_unknown_and_ignored_fields_are_ignored(client):
    plain = ask(client, HI)
    ignored = {"presence_penalty": 9, "frequency_penalty": "x", "user": 5, "logit_bias": {}, "store": True, "": 1}
    assert ask(client, HI | ignored) == plain


@pytest.mark.parametrize("prompt", [[1] * 17, "a" * 17], ids=["C49-ids", "C49-text"])
def test_a_prompt_over_the_limit_of_the_raw_route(prompt):
    with serving(max_prompt_tokens=16) as served:
        assert len(served.engine.require_ready().tokenizer.encode("a" * 17)) == 17
        refused(served.client, {"prompt": prompt}, COMPLETIONS, code="context_length_exceeded")
        assert served.model.fed == []
        assert ask(served.client, {"prompt": prompt[:16]}, COMPLETIONS).usage["prompt_tokens"] == 16


def test_c49_a_prompt_over_the_limit_of_the_chat_route():
    with serving() as served:
        length = ask(served.client, HI).usage["prompt_tokens"]
    with serving(max_prompt_tokens=length) as served:
        assert ask(served.client, HI).usage["prompt_tokens"] == length
    with serving(max_prompt_tokens=length - 1) as served:
        refused(served.client, HI, code="context_length_exceeded")
        assert served.model.fed == []


def test_c49_it_is_refused_before_the_line_is_joined():
    with serving(max_prompt_tokens=16, max_queue_depth=0) as served:
        refused(served.client, {"prompt": [1] * 17}, COMPLETIONS, code="context_length_exceeded")
        assert is_idle(served.engine)


@pytest.mark.parametrize(
    ("strict", "model", "status"),
    [(False, "other", 200), (True, "other", 404), (True, "maple-preview", 200), (True, None, 200), (True, "", 404)],
)
@ROUTES
def test_model_names(path, body, strict, model, status):
    with serving(strict_model=strict) as served:
        if status == 200:
            response = served.client.post(path, json=body | {"model": model})
            assert response.json["model"] == (model or "maple-preview")
        else:
            refused(served.client, body | {"model": model}, path, 404, param="model", code="model_not_found")
