"""What all schemas share."""

import pytest
from marshmallow import ValidationError

from schemas.base import ObjectSchema, invalid_request
from schemas.fields import Integer, List, Nested


class InnerSchema(ObjectSchema):
    number = Integer(required=True)


class OuterSchema(ObjectSchema):
    count = Integer()
    inner = Nested(InnerSchema)
    items = List(Nested(InnerSchema), most=9)


@pytest.mark.parametrize(
    ("body", "loaded"),
    [
        ({"count": None, "inner": None}, {}),
        ({"unknown": 1, "count": 2}, {"count": 2}),
        ({"items": [{"number": 1, "x": None}]}, {"items": [{"number": 1}]}),
    ],
)
def test_nulls_and_unknown_fields_are_as_if_absent(body, loaded):
    before = repr(body)
    assert OuterSchema().load(body) == loaded
    assert repr(body) == before


@pytest.mark.parametrize(
    ("body", "param", "message"),
    [
        ({"count": "1"}, "count", "count must be an integer"),
        ({"inner": {}}, "inner.number", "inner.number is required"),
        ({"inner": {"number": None}}, "inner.number", "inner.number is required"),
        ({"inner": 5}, "inner", "inner must be an object"),
        ({"items": [{"number": 1}, {"number": "x"}]}, "items[1].number", "items[1].number must be an integer"),
        ({"items": [{"number": 1}, None]}, "items[1]", "items[1] must be an object"),
        ({"items": [1]}, "items[0]", "items[0] must be an object"),
        ([], None, "the body must be an object"),
    ],
)
def test_the_first_error_is_one_sentence_with_its_path(body, param, message):
    with pytest.raises(ValidationError) as caught:
        OuterSchema().load(body)
    error = invalid_request(caught.value)
    assert (error.param, error.message) == (param, message)
