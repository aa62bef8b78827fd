"""Start, failed start, and end of the real server."""

import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.functional.server import ROOT, read_events, running_server
from tests.scripted import wait_until

EXIT_SECONDS = 5
WAITRESS_SERVE = Path(sys.executable).parent / "waitress-serve"
ENDLESS = {"messages": [{"role": "user", "content": "go on"}], "max_tokens": 3900}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_an_error_in_the_stream(endless_checkpoint, number):
    with running_server(endless_checkpoint) as server:
        server.wait_until_ready()
        streaming, waiting = server.connect(), server.connect()
        streaming.request("POST", "/v1/chat/completions", body=json.dumps(ENDLESS | {"stream": True}))
        response = streaming.getresponse()
        waiting.request("POST", "/v1/chat/completions", body=json.dumps(ENDLESS))
        assert wait_until(lambda: server.get("/health")[1]["queue_depth"] == 1, 5)
        server.process.send_signal(number)
        started = time.monotonic()
        events = list(read_events(response))
        assert json.loads(events[-2])["error"]["code"] == "shutting_down"
        assert events[-1] == "[DONE]"
        refused = waiting.getresponse()
        assert refused.status == 503
        assert json.loads(refused.read())["error"]["code"] == "shutting_down"
        assert server.process.wait(EXIT_SECONDS) == 0
        assert time.monotonic() - started < EXIT_SECONDS
        assert not any("Traceback" in line for line in server.log)
        streaming.close()
        waiting.close()


def test_a_slow_reader_does_not_delay_the_end(endless_checkpoint):
    with running_server(endless_checkpoint) as server:
        server.wait_until_ready()
        connection = server.connect()
        connection.request("POST", "/v1/chat/completions", body=json.dumps(ENDLESS | {"stream": True}))
        assert wait_until(lambda: server.get("/health")[1]["active"] == 1, 5)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(EXIT_SECONDS) == 0
        connection.close()


def test_waitress_serve_serves_and_warns_of_too_few_threads(tiny_checkpoint):
    command = (WAITRESS_SERVE, "--listen=127.0.0.1:0", "app:app")
    with running_server(tiny_checkpoint, command) as server:
        server.wait_until_ready()
        status, body = server.post(
            "/v1/chat/completions", {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 3}
        )
        assert (status, body["object"]) == (200, "chat.completion")
        assert any("--threads" in line and "--channel-request-lookahead" in line for line in server.log)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_waitress_serve_ends_in_good_order_too(endless_checkpoint, number):
    command = (WAITRESS_SERVE, "--listen=127.0.0.1:0", "app:app")
    with running_server(endless_checkpoint, command) as server:
        server.wait_until_ready()
        connection = server.connect()
        connection.request("POST", "/v1/chat/completions", body=json.dumps(ENDLESS | {"stream": True}))
        response = connection.getresponse()
        server.process.send_signal(number)
        events = list(read_events(response))
        assert json.loads(events[-2])["error"]["code"] == "shutting_down"
        assert events[-1] == "[DONE]"
        assert server.process.wait(EXIT_SECONDS) == 0
        connection.close()


def test_a_signal_while_the_weights_load_ends_it(tiny_checkpoint, tmp_path):
    slow = tmp_path / "slow"
    shutil.copytree(tiny_checkpoint, slow)
    (slow / "config.json").unlink()
    os.mkfifo(slow / "config.json")  # the loader waits for somebody to write
    with running_server(slow) as server:
        assert server.get("/health")[1]["status"] == "loading"
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(EXIT_SECONDS) == 0


def test_a_checkpoint_that_cannot_be_loaded_shows_its_reason(tiny_checkpoint, tmp_path):
    broken = tmp_path / "broken"
    shutil.copytree(tiny_checkpoint, broken)
    shard = next(broken.glob("*.safetensors"))
    shard.write_bytes(shard.read_bytes()[:1000])
    with running_server(broken) as server:
        assert wait_until(lambda: server.get("/health")[1]["status"] == "error", 30)
        status, health = server.get("/health")
        assert status == 503
        assert shard.name in json.dumps(health)
        status, body = server.post("/v1/chat/completions", {"messages": [{"role": "user", "content": "hi"}]})
        assert (status, body["error"]["code"]) == (503, "model_failed")
        assert shard.name in body["error"]["message"]
        assert server.get("/health/live")[0] == 200


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"temperature": "hot"}, "MAPLE_TEMPERATURE"),
        ({"max_queue_depth": "-1"}, "MAPLE_MAX_QUEUE_DEPTH"),
        ({"tempreature": "1"}, "MAPLE_TEMPREATURE"),
    ],
)
@pytest.mark.parametrize("command", [("app.py",), ("-m", "waitress", "--listen=127.0.0.1:0", "app:app")])
def test_a_bad_setting_stops_the_start_with_one_line(tiny_checkpoint, settings, named, command):
    with running_server(tiny_checkpoint, (sys.executable, *command), **settings) as server:
        assert server.process.wait(30) != 0
        server._reader.join()
        assert [line for line in server.log if named in line]
        assert len(server.log) == 1


def test_a_busy_port_stops_the_start_with_one_line(server, tiny_checkpoint):
    with running_server(tiny_checkpoint, port=server.port) as second:
        assert second.process.wait(30) == 1
        second._reader.join()
        assert len([line for line in second.log if str(server.port) in line]) == 1
        assert not any("Traceback" in line for line in second.log)


def test_the_procfile_serves_on_the_port_the_platform_gives(tiny_checkpoint, monkeypatch):
    name, _, command = (ROOT / "Procfile").read_text().strip().partition(": ")
    assert name == "web"
    monkeypatch.setenv("PORT", "0")
    shell = command.replace("python", sys.executable)
    with running_server(tiny_checkpoint, ("sh", "-c", f"exec env {shell}"), port="") as server:
        assert wait_until(lambda: "listening on http://0.0.0.0:" in "".join(server.log), 30)
        assert not any(":8000" in line for line in server.log)
