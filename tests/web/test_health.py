"""What orchestrators may ask at any time."""

import threading

from maple.errors import CheckpointError
from tests.scripted import wait_until


def test_health_of_a_ready_server(serve):
    response = serve(model_path="some/model").client.get("/health")
    assert response.status_code == 200
    health = response.json
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


def test_health_while_the_model_loads_and_after_that_failed(serve):
    release = threading.Event()

    def load(settings, on_progress):
        on_progress(0.25)
        release.wait(20)
        raise CheckpointError("no such file")

    client = serve(load=load).client
    assert wait_until(lambda: client.get("/health").json["progress"] == 0.25)
    health = client.get("/health")
    assert (health.status_code, health.json["status"], health.json["device"]) == (503, "loading", None)
    assert "message" not in health.json
    release.set()
    assert wait_until(lambda: client.get("/health").json["status"] == "error")
    health = client.get("/health")
    assert (health.status_code, health.json["message"]) == (503, "no such file")
    assert "progress" not in health.json
    assert client.get("/health/live").json == {"status": "ok"}
