"""The one model there is."""

import pytest

from maple.errors import ModelNotFound
from maple.settings import Settings
from maple.web.models import check_model
from tests.application import error_of


@pytest.mark.parametrize(
    ("is_strict", "model", "is_taken"),
    [(False, "other", True), (True, "mine", True), (True, None, True), (True, "other", False), (True, "", False)],
)
def test_only_strict_servers_mind_another_name(is_strict, model, is_taken):
    settings = Settings(model_id="mine", strict_model=is_strict)
    if is_taken:
        assert check_model(model, settings) is None
        return
    with pytest.raises(ModelNotFound, match="mine") as caught:
        check_model(model, settings)
    assert caught.value.param == "model"


def test_the_one_model(serve):
    client = serve(model_id="org/mine").client
    entry = client.get("/v1/models/org/mine").json
    assert client.get("/v1/models/org/mine/").json == entry
    assert client.get("/v1/models").json == {"object": "list", "data": [entry]}
    assert entry.pop("created") > 1_700_000_000
    assert entry == {"id": "org/mine", "object": "model", "owned_by": "deepgrove"}
    for missing in ("other", "org", "org/mine/x"):
        assert error_of(client.get(f"/v1/models/{missing}"), 404)["code"] == "model_not_found"
