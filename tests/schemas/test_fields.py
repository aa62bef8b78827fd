"""Fields that refuse what they are not."""

import math

import pytest
from marshmallow import ValidationError

from schemas.fields import Boolean, Choice, Integer, List, Number, Object, StopStrings, String


@pytest.mark.parametrize(
    ("field", "value", "loaded"),
    [
        (Boolean(), True, True),
        (Integer(low=-1), -1, -1),
        (Integer(), 2**70, 2**70),
        (Number(low=0, high=2), 1, 1.0),
        (Number(low=0, high=2), 0, 0.0),
        (Number(low=0, above_low=True), 1e-45, 1e-45),
        (String(), "", ""),
        (Choice("a", "b"), "b", "b"),
        (Object(), {"a": None}, {"a": None}),
        (List(String(), most=2), [], []),
        (List(String(), most=2), ["a", "b"], ["a", "b"]),
        (String(longest=2), "ab", "ab"),
        (StopStrings(), "a", ("a",)),
        (StopStrings(), [], ()),
        (StopStrings(), ["a", "b", "c", "d", "e"], ("a", "b", "c", "d", "e")),
    ],
)
def test_taken(field, value, loaded):
    result = field.deserialize(value)
    assert result == loaded
    assert type(result) is type(loaded)


@pytest.mark.parametrize(
    ("field", "values", "message"),
    [
        (Boolean(), ["false", 1, 0, []], "must be true or false"),
        (Integer(), ["1", 1.0, True, []], "must be an integer"),
        (Integer(low=1), [0, -(2**70)], "must be at least 1"),
        (Integer(low=1, high=5), [0, 6], "must be at least 1 and at most 5"),
        (Number(low=0), ["0.5", True, [1]], "must be a number"),
        (
            Number(low=0, high=2),
            [-0.1, 2.1, math.nan, math.inf, 10**400, -(10**400)],
            "must be at least 0 and at most 2",
        ),
        (Number(low=0, above_low=True), [0, -1, math.inf], "must be above 0"),
        (String(), [1, None, ["a"]], None),
        (String(non_empty=True), [""], "must not be empty"),
        (Choice("a", "b"), ["c", 1, ["a"]], "must be one of a, b"),
        (Object(), [[], "x"], "must be an object"),
        (List(String(), most=2), [{}, "x", {"a": 1}], "must be a list"),
        (List(String(), most=2, non_empty=True), [[]], "must not be empty"),
        (List(Object(), most=2), [["wrong"] * 3], "must have at most 2 members"),
        (String(longest=2), ["abc"], "must have at most 2 characters"),
        (StopStrings(), [["a"] * 65, "a" * 4097], "must have at most 64 strings of at most 4096 characters"),
        (StopStrings(), [1, {}, [1], [None]], "must be a string or a list of strings"),
        (StopStrings(), ["", [""], ["a", ""]], "must not hold an empty string"),
    ],
)
def test_refused(field, values, message):
    for value in values:
        with pytest.raises(ValidationError) as caught:
            field.deserialize(value)
        assert message is None or caught.value.messages == [message]


def test_a_list_is_read_up_to_its_first_wrong_member():
    seen = []

    class Watched(Object):
        def _deserialize(self, value, attr, data, **kwargs):
            seen.append(value)
            return super()._deserialize(value, attr, data, **kwargs)

    with pytest.raises(ValidationError) as caught:
        List(Watched(), most=9).deserialize([{}, "wrong", "wrong too", {}])
    assert caught.value.messages == {1: ["must be an object"]}
    assert seen == [{}, "wrong"]
