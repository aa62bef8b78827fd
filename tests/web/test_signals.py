"""The end of a process whose server is not ours."""

import signal

from maple.web import signals


def test_the_engine_is_stopped_before_the_process_ends(monkeypatch):
    handlers, steps = {}, []

    class FakeEngine:
        def stop(self):
            steps.append("stop")

    class InlineThread:
        def __init__(self, target, daemon):
            self.start = target

    monkeypatch.setattr(signals.signal, "signal", handlers.__setitem__)
    monkeypatch.setattr(signals.threading, "Thread", InlineThread)
    monkeypatch.setattr(signals.time, "sleep", lambda seconds: steps.append("grace"))
    monkeypatch.setattr(signals.logging, "shutdown", lambda: steps.append("flush"))
    monkeypatch.setattr(signals.os, "_exit", steps.append)
    signals.end_process_on_stop_signal(FakeEngine())
    assert set(handlers) == {signal.SIGTERM, signal.SIGINT}
    handlers[signal.SIGTERM](signal.SIGTERM, None)
    assert steps == ["stop", "grace", "flush", 0]
