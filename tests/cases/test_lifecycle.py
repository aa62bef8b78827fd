"""Section K, as far as it needs no socket: leaving, waiting, and a model that is not there yet."""

import contextlib
import threading

import pytest

from maple.errors import CheckpointError
from tests.application import CHAT, COMPLETIONS, HI, error_of, events_of, serving
from tests.cases.asking import PROMPT, TOOLS, ask, refused
from tests.scripted import is_idle, scripted_checkpoint, wait_until

STREAM = HI | {"stream": True}
GONE = "waitress.client_disconnected"


@contextlib.contextmanager
def in_background(call):
    """Runs call in a thread; yields a list that gets its result. Joins the thread at the end."""
    results = []
    thread = threading.Thread(target=lambda: results.append(call()))
    thread.start()
    try:
        yield results
    finally:
        thread.join(20)
        assert not thread.is_alive()


def post(served, body, path=CHAT, is_gone=None):
    environ = {} if is_gone is None else {GONE: is_gone}
    response = served.client.application.test_client().post(path, json=body, environ_overrides=environ)
    response.get_data()
    response.close()  # as every WSGI server does
    return response


@contextlib.contextmanager
def busy(served):
    """Somebody's request runs, until the yielded event is set; its text has to come out whole."""
    gate = served.model.gates[1] = threading.Event()
    with in_background(lambda: ask(served.client.application.test_client(), HI)) as replies:
        assert wait_until(lambda: served.model.fed and served.engine.status().active)
        yield gate
        gate.set()
    assert [reply.said for reply in replies] == [("t", "ok", [], "stop")]


PIECES = ["t</think>", "ok"]


@pytest.mark.parametrize(("path", "body"), [(CHAT, STREAM), (COMPLETIONS, PROMPT | {"stream": True})])
def test_c64_closing_the_stream_ends_the_generation(path, body):
    with serving(["x "], ends=False) as served:
        served.model.delay = 0.002
        response = served.client.post(path, json=body | {"max_tokens": 4000})
        blocks = response.iter_encoded()
        for _ in range(3):
            next(blocks)
        response.close()
        assert wait_until(lambda: is_idle(served.engine))
        assert len(served.model.fed[0]) < 2000
        served.model.ends = True
        assert ask(served.client, HI).finish_reason == "stop"


def test_c64_a_stream_that_is_never_read_is_closed_too():
    with serving(["x "], ends=False) as served:
        served.model.delay = 0.002
        served.client.post(CHAT, json=STREAM | {"max_tokens": 4000}).close()
        assert wait_until(lambda: is_idle(served.engine))


@pytest.mark.parametrize(
    "body", [HI, STREAM, STREAM | {"include_reasoning": False}], ids=["C65", "C65-stream", "C65-hidden-thought"]
)
@pytest.mark.parametrize("gate", [0, 2], ids=["prefill", "between-tokens"])
def test_a_client_that_leaves_in_silence(body, gate):
    with serving(["x "], ends=False) as served:
        served.model.gates[gate] = threading.Event()
        left = threading.Event()
        with in_background(lambda: post(served, body | {"max_tokens": 4000}, is_gone=left.is_set)) as responses:
            assert wait_until(lambda: served.model.fed)
            left.set()
            assert wait_until(lambda: responses)  # it did not wait for the model
            served.model.gates[gate].set()
        assert wait_until(lambda: is_idle(served.engine))
        assert len(served.model.fed[0]) < 1000
        assert "error" not in responses[0].text
        assert "[DONE]" not in responses[0].text


@pytest.mark.parametrize("body", [HI, STREAM], ids=["C66", "C66-stream"])
def test_a_waiting_client_that_leaves(body):
    with serving(PIECES) as served, busy(served) as gate:
        left = threading.Event()
        with in_background(lambda: post(served, body, is_gone=left.is_set)) as leaving:
            assert wait_until(lambda: served.engine.status().queue_depth == 1)
            with in_background(lambda: post(served, TOOLS, is_gone=lambda: False)) as staying:
                assert wait_until(lambda: served.engine.status().queue_depth == 2)
                left.set()
                assert wait_until(lambda: leaving)
                assert (served.engine.status().queue_depth, served.engine.status().active) == (1, 1)
                gate.set()
        assert staying[0].json["choices"][0]["message"]["content"] == "ok"
        assert len(served.prompts()) == 2
        assert "Tools" in served.prompts()[1]
        assert is_idle(served.engine)


@pytest.mark.parametrize("stream", [False, True], ids=["C66", "C66-stream"])
@pytest.mark.parametrize(("path", "body"), [(CHAT, HI), (COMPLETIONS, PROMPT)])
def test_waiting_too_long_is_a_503(path, body, stream):
    with serving(PIECES, queue_timeout=0.1) as served, busy(served):
        response = post(served, body | {"stream": stream}, path)
        error = error_of(response, 503)
        assert (error["code"], error["type"]) == ("engine_overloaded", "server_error")
        assert "Retry-After" in response.headers
        assert (served.engine.status().queue_depth, served.engine.status().active) == (0, 1)
        assert len(served.model.fed) == 1


def test_d14_a_stream_that_opened_while_it_waited_times_out_in_band():
    with (
        serving(PIECES, queue_timeout=0.3, stream_open_after=0.05, keepalive_seconds=0.05) as served,
        busy(served),
    ):
        response = post(served, STREAM)
        assert response.status_code == 200
        assert ": keep-alive" in response.text
        opening, error = events_of(response)
        assert opening["choices"][0]["delta"] == {"role": "assistant", "content": ""}
        assert error["error"]["code"] == "engine_overloaded"
        assert len(served.model.fed) == 1


def test_d14_a_stream_that_opened_while_it_waited_is_served():
    with serving(PIECES, stream_open_after=0) as served, busy(served) as gate:
        response = served.client.application.test_client().post(CHAT, json=STREAM)
        blocks = response.iter_encoded()
        assert b'"role": "assistant"' in next(blocks)
        assert served.engine.status().queue_depth == 1
        gate.set()
        rest = b"".join(blocks).decode()
        assert '"content": "ok"' in rest
        assert rest.endswith("data: [DONE]\n\n")
        response.close()


@pytest.mark.parametrize("depth", [0, 2], ids=["C68-no-line", "C68"])
def test_a_full_line_is_a_503_at_once(depth):
    with serving(PIECES, max_queue_depth=depth) as served, busy(served) as gate, contextlib.ExitStack() as stack:
        waiting = [stack.enter_context(in_background(lambda: post(served, HI))) for _ in range(depth)]
        assert wait_until(lambda: served.engine.status().queue_depth == depth)
        for path, body in ((CHAT, HI), (COMPLETIONS, PROMPT)):
            refused(served.client, body, path, 503, code="engine_overloaded")
            assert served.client.post(path, json=body | {"stream": True}).headers["Retry-After"] == "5"
        health = served.client.get("/health")
        assert (health.status_code, health.json["active"], health.json["queue_depth"]) == (200, 1, depth)
        assert served.client.get("/v1/models").status_code == 200
        gate.set()
        assert wait_until(lambda: all(waiting))
        assert [responses[0].status_code for responses in waiting] == [200] * depth


def test_c68_a_bad_request_is_a_400_however_full_the_line_is():
    with serving(PIECES, max_queue_depth=0) as served, busy(served):
        refused(served.client, HI | {"n": 2}, param="n")


def test_c70_while_the_weights_load():
    gate, checkpoint = threading.Event(), scripted_checkpoint(PIECES)

    def load(settings, on_progress):
        on_progress(0.5)
        assert gate.wait(20)
        return checkpoint

    with serving(load=load, checkpoint=checkpoint) as served:
        assert wait_until(lambda: served.engine.status().progress == 0.5)
        for path, body in ((CHAT, HI), (COMPLETIONS, PROMPT)):
            refused(served.client, body, path, 503, code="model_loading")
            refused(served.client, b"{bad", path)
            refused(served.client, body | {"n": 2}, path, param="n")
        health = served.client.get("/health")
        assert (health.status_code, health.json["status"], health.json["progress"]) == (503, "loading", 0.5)
        assert served.client.get("/health/live").status_code == 200
        assert served.client.get("/v1/models").status_code == 200
        gate.set()
        assert wait_until(lambda: served.client.get("/health").status_code == 200)
        health = served.client.get("/health").json
        assert "progress" not in health
        assert {name: health[name] for name in ("status", "model", "device", "dtype", "queue_depth", "active")} == {
            "status": "ok",
            "model": "maple-preview",
            "device": "cpu",
            "dtype": "float32",
            "queue_depth": 0,
            "active": 0,
        }
        assert health["load_seconds"] >= 0
        assert health.keys() >= {"model_path", "attention", "version"}
        assert ask(served.client, HI).content == "ok"


@pytest.mark.parametrize("error", [CheckpointError("tensor lm_head.weight is missing"), RuntimeError("tensor lm_head")])
def test_c70_a_failed_load_is_told_and_not_taken_for_loading(error, caplog):
    def load(settings, on_progress):
        raise error

    with serving(load=load, api_key="k") as served:
        assert wait_until(lambda: served.client.get("/health").json["status"] == "error")
        health = served.client.get("/health")
        assert health.status_code == 503
        assert "tensor lm_head" in health.json["message"]
        reply = refused(served.client, HI, status=503, code="model_failed", headers={"Authorization": "Bearer k"})
        assert "tensor lm_head" in reply["message"]
        assert served.client.get("/health/live").status_code == 200
        assert wait_until(lambda: "could not be loaded" in caplog.text)


def test_the_end_of_the_server_is_told_in_band_and_to_who_waits():
    with serving(["x "], ends=False) as served:
        served.model.delay = 0.002
        response = served.client.post(CHAT, json=STREAM | {"max_tokens": 4000})
        blocks = response.iter_encoded()
        assert b'"role": "assistant"' in next(blocks)
        with in_background(lambda: post(served, HI)) as waiting:
            assert wait_until(lambda: served.engine.status().queue_depth == 1)
            served.engine.stop()
        rest = list(blocks)
        assert b'"code": "shutting_down"' in rest[-2]
        assert rest[-1] == b"data: [DONE]\n\n"
        assert error_of(waiting[0], 503)["code"] == "shutting_down"
        refused(served.client, HI, status=503, code="shutting_down")
        response.close()
