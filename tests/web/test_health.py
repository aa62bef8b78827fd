"""What orchestrators and clients may ask at any time."""

import threading

import pytest

from maple.errors import CheckpointError
from tests.scripted import wait_until
from tests.web.conftest import CHAT, HI


def test_health_of_a_ready_server(serve):
    response = serve(model_path="some/model").client.get("/health")
    assert response.status_code == 200
    health = response.get_json()
    assert isinstance(health.pop("load_seconds"), float)
    assert health == {
        "status": "ok",
        "model": "maple-preview",
        "model_path": "some/model",
        "device": "cpu",
        "dtype": "float32",
        "attention": "torch-sdpa",
        "queue_depth": 0,
        "active": 0,
        "version": "0.1.0",
    }


@pytest.mark.parametrize("stream", [False, True])
def test_while_the_model_loads(serve, stream):
    release = threading.Event()

    def load(settings, on_progress):
        on_progress(0.25)
        release.wait(20)
        raise CheckpointError("no such file")

    server = serve(load=load)
    assert wait_until(lambda: server.client.get("/health").get_json()["progress"] == 0.25)
    health = server.client.get("/health")
    assert (health.status_code, health.get_json()["status"]) == (503, "loading")
    assert server.client.get("/health/live").status_code == 200
    assert server.client.get("/v1/models").status_code == 200
    reply = server.client.post(CHAT, json=HI | {"stream": stream})
    assert (reply.status_code, reply.get_json()["error"]["code"]) == (503, "model_loading")
    assert server.client.post(CHAT, json={"n": 2, "stream": stream}).status_code == 400
    release.set()
    assert wait_until(lambda: server.client.get("/health").get_json()["status"] == "error")
    health = server.client.get("/health")
    assert (health.status_code, health.get_json()["message"]) == (503, "no such file")
    assert "progress" not in health.get_json()
    reply = server.client.post(CHAT, json=HI | {"stream": stream})
    assert (reply.status_code, reply.get_json()["error"]["code"]) == (503, "model_failed")
    assert server.client.get("/health/live").status_code == 200


def test_the_one_model(serve):
    client = serve(model_id="org/mine").client
    entry = client.get("/v1/models/org/mine").get_json()
    assert entry.pop("created") > 1_700_000_000
    assert entry == {"id": "org/mine", "object": "model", "owned_by": "deepgrove"}
    listed = client.get("/v1/models").get_json()
    assert (listed["object"], [item["id"] for item in listed["data"]]) == ("list", ["org/mine"])
    missing = client.get("/v1/models/other")
    assert (missing.status_code, missing.get_json()["error"]["code"]) == (404, "model_not_found")


def test_the_model_is_echoed_and_only_strict_servers_mind(serve):
    client = serve().client
    assert client.post(CHAT, json=HI).get_json()["model"] == "maple-preview"
    assert client.post(CHAT, json=HI | {"model": "other"}).get_json()["model"] == "other"
    strict = serve(strict_model=True).client
    assert strict.post(CHAT, json=HI).status_code == 200
    assert strict.post(CHAT, json=HI | {"model": "maple-preview"}).status_code == 200
    assert strict.post("/v1/completions", json={"prompt": "x", "model": "other"}).status_code == 404
