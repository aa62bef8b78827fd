"""Starts `python app.py` in a child process on a free port."""

import contextlib
import http.client
import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

from tests.scripted import wait_until

ROOT = Path(__file__).parents[2]
START_SECONDS = 60


class Server:
    """A running server; its log lines are collected as they come."""

    def __init__(self, process: subprocess.Popen):
        self.process = process
        self.log: list[str] = []
        self._reader = threading.Thread(target=self._collect, daemon=True)
        self._reader.start()

    def _collect(self):
        for line in self.process.stderr:
            self.log.append(line.rstrip("\n"))

    @property
    def port(self) -> int:
        found = wait_until(lambda: re.search(r"http://127\.0\.0\.1:(\d+)", "\n".join(self.log)), START_SECONDS)
        assert found, f"the server did not start: {self.log}"
        return int(found[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def connect(self, timeout: float = 60) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def get(self, path: str, timeout: float = 60) -> tuple[int, dict]:
        return self.send("GET", path, timeout=timeout)[:2]

    def post(self, path: str, body: dict, timeout: float = 60) -> tuple[int, dict]:
        return self.send("POST", path, body, timeout)[:2]

    def send(self, method: str, path: str, body: dict | None = None, timeout: float = 60):
        """Status, JSON body and headers of one request."""
        with contextlib.closing(self.connect(timeout)) as connection:
            connection.request(method, path, body=None if body is None else json.dumps(body))
            response = connection.getresponse()
            return response.status, json.loads(response.read()), response.headers

    def wait_until_ready(self) -> None:
        assert wait_until(lambda: self.get("/health")[0] == 200, START_SECONDS), self.get("/health")

    def wait_until_idle(self, seconds: float) -> dict:
        """Health once nothing runs or waits any more, or after so long."""
        wait_until(lambda: not (health := self.get("/health")[1])["active"] and not health["queue_depth"], seconds)
        return self.get("/health")[1]


@contextlib.contextmanager
def running_server(model_path, command=(sys.executable, "app.py"), **settings):
    """A server with MAPLE_* settings given by their names in lower case; killed at the end if need be."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAPLE_")}
    # One thread for the arithmetic: several servers and their clients share two cores here.
    environment |= {"MAPLE_MODEL_PATH": str(model_path), "MAPLE_PORT": "0", "MAPLE_TORCH_THREADS": "1"}
    environment |= {f"MAPLE_{name.upper()}": str(value) for name, value in settings.items()}
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        server = Server(process)
        yield server
    finally:
        process.kill()
        process.wait()
        server._reader.join()
        process.stderr.close()


def hang_up(connection: http.client.HTTPConnection, response: http.client.HTTPResponse) -> None:
    """Closes the socket in the middle of a reply; the connection alone would leave it open for the response."""
    response.close()
    connection.close()


def read_events(response):
    """The data of each server-sent event as it comes, comments left out."""
    for line in response:
        if line.startswith(b"data: "):
            yield line.removeprefix(b"data: ").strip().decode()
