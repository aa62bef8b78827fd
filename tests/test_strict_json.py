import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maple.strict_json import MAX_DEPTH, JSONError, dumps, loads

DEEP = MAX_DEPTH + 1


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ("true", True),
        ("0", 0),
        ("-0.5e-3", -0.0005),
        ("1e300", 1e300),
        ('"\\u00e9 \\ud83c\\udf41 \\n"', "é 🍁 \n"),
        ('"\\u0000"', "\0"),
        (' [1, {"a": []}] \r\n', [1, {"a": []}]),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ('{"NaN": "Infinity"}', {"NaN": "Infinity"}),
        ("9" * 300, int("9" * 300)),
        ("1e-400", 0.0),
        ("{}", {}),
    ],
)
def test_json_is_decoded(text, value):
    assert loads(text) == value
    assert loads(text.encode()) == value
    assert type(loads(text)) is type(value)


def test_bytes_may_be_utf_8():
    assert loads('{"é": "🍁"}'.encode()) == {"é": "🍁"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "at line 1, column 1"),
        ("  ", "line 1"),
        ("{", "at line 1, column 2"),
        ('{"a": 1,}', "line 1"),
        ("{'a': 1}", "line 1"),
        ("[1] 2", "Extra data at line 1, column 5"),
        ('{\n"a" 1}', "at line 2, column 5"),
        ('"a\nb"', "line 1"),
        ('"\\x41"', "line 1"),
        ('"open', "line 1"),
        ("01", "line 1"),
        ("+1", "line 1"),
        (".5", "line 1"),
        ("nan", "line 1"),
        ("True", "line 1"),
        ("// no\n1", "line 1"),
        (b'"\xff"', "not valid UTF-8"),
        (b'"\xc3', "not valid UTF-8"),
        (b'"\xed\xa0\x80"', "half of a surrogate pair"),
        ("NaN", "NaN is not JSON"),
        ('{"a": [Infinity]}', "Infinity is not JSON"),
        ("-Infinity", "-Infinity is not JSON"),
        ("1e400", "a number in it is too large"),
        ("[-1e999]", "a number in it is too large"),
        ("9" * 5000, "a number in it is too long"),
        ('"\\ud800"', "half of a surrogate pair"),
        ('"\\udc00\\ud800"', "half of a surrogate pair"),
        ('["\\ud83c"]', "half of a surrogate pair"),
        ('{"\\ud83c": 1}', "half of a surrogate pair"),
        ("[" * DEEP + "]" * DEEP, "nested deeper than 100 levels"),
        ('{"a":' * DEEP + "1" + "}" * DEEP, "nested deeper than 100 levels"),
        ("[" * 100_000 + "]" * 100_000, "nested deeper than 100 levels"),
        ('{"a":' * 100_000, "nested deeper than 100 levels"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_what_is_not_strict_json_is_refused(text, message):
    with pytest.raises(JSONError, match=message):
        loads(text)


@pytest.mark.parametrize(
    "text", ['{"secret', '{"secret": NaN}', '{"secret": "\\ud800"}', '["secret", 1e999]', "secret"]
)
def test_message_does_not_quote_the_text(text):
    with pytest.raises(JSONError) as caught:
        loads(text)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["[" * MAX_DEPTH + "]" * MAX_DEPTH, '{"a":' * MAX_DEPTH + "1" + "}" * MAX_DEPTH, json.dumps({"a": [[]] * 1000})],
    ids=["arrays", "objects", "wide"],
)
def test_nesting_up_to_the_limit_is_taken(text):
    assert loads(text) == json.loads(text)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ('{"a": 1, "b": ["\\ud800"]}', "b"),
        ('{"a": 1, "b": {"c": {"\\ud800": 1}}}', "b"),
        ('{"tools": ' + "[" * DEEP + "]" * DEEP + ', "a": 1}', "tools"),
        ('{"a": 1, "\\ud800": 2}', None),
        ('["\\ud800"]', None),
        ('{"a": NaN}', None),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_error_says_which_field_the_trouble_lies_under(text, field):
    with pytest.raises(JSONError) as caught:
        loads(text)
    assert caught.value.field == field


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


@given(json_values)
def test_what_is_encoded_is_decoded_alike(value):
    assert loads(dumps(value)) == value
    assert loads(dumps(value).encode()) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [True, None]}, '{"b": 1, "a": [true, null]}'),
        ("é🍁<&>\u2028", '"é🍁<&>\u2028"'),
        (1.0, "1.0"),
    ],
)
def test_spelling_is_that_of_chat_templates(value, text):
    assert dumps(value) == text


@pytest.mark.parametrize("value", [float("nan"), [float("inf")], {"a": -float("inf")}])
def test_what_json_cannot_say_is_not_encoded(value):
    with pytest.raises(ValueError, match="not JSON compliant"):
        dumps(value)
