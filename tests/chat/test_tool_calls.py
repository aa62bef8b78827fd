import json

import pytest

from maple.chat.tool_calls import parse_calls

DEEP = "[" * 90 + "]" * 90


def call_with(value):
    return f'{{"name":"f","arguments":{{"a":{value}}}}}'


def calls_in(body):
    calls = parse_calls(body)
    return calls and [(call.name, call.arguments) for call in calls]


@pytest.mark.parametrize(
    ("body", "arguments"),
    [
        ('{"name":"f","arguments":{}}', "{}"),
        ('{"name":"f"}', "{}"),
        ('{"name":"f","arguments":null}', "{}"),
        ('{"name":"f","arguments":{"x":1}}', '{"x": 1}'),
        (r'{"name":"f","arguments":"{\"x\":1}"}', '{"x":1}'),
        (r'{"name":"f","arguments":"{ }"}', "{ }"),
        ('{"name":"f","parameters":{"x":1}}', '{"x": 1}'),
        ('{"name":"f","arguments":{"x":1},"parameters":{"y":2}}', '{"x": 1}'),
        ('{"arguments":{"x":1},"name":"f","id":7,"type":"function"}', '{"x": 1}'),
        ('{"name":"f","arguments":{"b":1,"a":[1.5,null,true,""]}}', '{"b": 1, "a": [1.5, null, true, ""]}'),
        (r'{"name":"f","arguments":{"a":"é\n\u4f60"}}', '{"a": "é\\n你"}'),
        (call_with(DEEP), f'{{"a": {DEEP}}}'),
        ('\n\t {"name":"f","arguments":{}}\n ', "{}"),
    ],
)
def test_c31_arguments_are_always_an_object_as_text(body, arguments):
    assert calls_in(body) == [("f", arguments)]
    assert isinstance(json.loads(arguments), dict)


@pytest.mark.parametrize(
    "body",
    [
        '{"name":"f","arguments":"plain"}',
        '{"name":"f","arguments":""}',
        '{"name":"f","arguments":[1]}',
        '{"name":"f","arguments":"[1]"}',
        '{"name":"f","arguments":5}',
        '{"name":"f","arguments":false}',
        '{"name":"f","arguments":{"a":NaN}}',
        '{"name":"f","arguments":{"a":1e999}}',
        r'{"name":"f","arguments":{"a":"\ud83d"}}',
        r'{"name":"f","arguments":"{\"a\": NaN}"}',
        call_with("[" * 200 + "]" * 200),
        call_with("[" * 100_000),
        call_with("9" * 5000),
        '{"name":"","arguments":{}}',
        '{"name":5,"arguments":{}}',
        '{"name":null,"arguments":{}}',
        '{"arguments":{}}',
        "{}",
        "",
        " \n",
        "null",
        "5",
        '"f"',
        '[{"name":"f","arguments":{}}]',
        '{"name":"f","arguments":{}',
        '{"name":"f","arguments":{},}',
        "{'name':'f'}",
        '{"name":"f"} and more',
        'f({"name":"f"})',
        '{"name":"f"},',
    ],
)
def test_c31_what_is_no_call(body):
    assert calls_in(body) is None


@pytest.mark.parametrize("between", ["", " ", "\n", ",", " ,\n", "\n\n\t", ",,"])
def test_d21_objects_back_to_back(between):
    body = between.join(['{"name":"f","arguments":{"x":1}}', '{"name":"g"}', '{"name":"f","arguments":{}}'])
    assert calls_in(body) == [("f", '{"x": 1}'), ("g", "{}"), ("f", "{}")]


@pytest.mark.parametrize("other", ["{}", "5", '{"name":"g","arguments":[1]}', "{", "and", ";", '"'])
def test_d21_one_of_them_no_call_and_none_is(other):
    assert calls_in('{"name":"f"}' + other) is None
    assert calls_in(other + '{"name":"f"}') is None


def test_d21_a_comma_before_the_first_is_no_sequence():
    assert calls_in(',{"name":"f"}') is None


def test_c26_ids_are_unique_and_random():
    ids = [call.id for _ in range(50) for call in parse_calls('{"name":"f"}{"name":"f"}')]
    assert len(set(ids)) == 100
    assert all(call_id.startswith("call_") and len(call_id) >= 20 for call_id in ids)


def test_c31_null_arguments_do_not_hide_parameters():
    assert calls_in('{"name":"f","arguments":null,"parameters":{"x":1}}') == [("f", '{"x": 1}')]
