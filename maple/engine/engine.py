"""The engine: loads the model, queues requests, and runs them one at a time on a thread of its own."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue

import torch

from maple.checkpoints.loader import Checkpoint, load
from maple.engine.decoding import Cancelled, decode
from maple.engine.generation import Generation
from maple.engine.queue import SlotQueue
from maple.engine.requests import GenerationRequest
from maple.engine.streamer import TokenStreamer
from maple.errors import (
    CheckpointError,
    GenerationFailed,
    InvalidRequest,
    ModelFailed,
    ModelLoading,
    ShuttingDown,
)
from maple.settings import Settings

STOP_SECONDS = 3

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """What /health tells. state is "loading", "ok" or "error"; progress goes from 0 to 1."""

    state: str
    progress: float
    error: str | None
    device: str | None
    dtype: str | None
    attention: str | None
    load_seconds: float | None
    queue_depth: int
    active: int


class Engine:
    """One model and one generation at a time. start() once; everything else may be called from any thread."""

    def __init__(self, load: Callable[[Settings, Callable[[float], None]], Checkpoint] = load):
        self._load = load
        self._checkpoint: Checkpoint | None = None
        self._error: str | None = None
        self._progress = 0.0
        self._load_seconds: float | None = None
        self._inbox: SimpleQueue[Generation | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._running: Generation | None = None
        self._is_stopping = False

    def start(self, settings: Settings) -> None:
        """Begins to load the model in the background and returns. Raises RuntimeError the second time."""
        if self._thread is not None:
            raise RuntimeError("this engine has been started already")
        self._settings = settings
        self._queue = SlotQueue(settings.max_queue_depth)
        # One thread for the life of the process: the model, its caches and torch's worker pool belong to it.
        self._thread = threading.Thread(target=self._run, name="maple-engine", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends every request with ShuttingDown; returns when nothing runs any more, or after STOP_SECONDS."""
        self._is_stopping = True
        self._queue.close()
        running = self._running
        if running is not None:
            running.interrupt(ShuttingDown("the server is shutting down"))
        self._inbox.put(None)
        if self._checkpoint is not None:
            self._thread.join(STOP_SECONDS)

    def require_ready(self) -> Checkpoint:
        """The loaded model, if a request would be taken now.

        Raises ModelLoading, ModelFailed, ShuttingDown, or EngineOverloaded when there is no place in the line.
        """
        if self._is_stopping:
            raise ShuttingDown("the server is shutting down")
        if self._error is not None:
            raise ModelFailed(f"the model could not be loaded: {self._error}")
        if self._checkpoint is None:
            raise ModelLoading(f"the model is still loading ({self._progress:.0%}); try again later")
        self._queue.check_room()
        return self._checkpoint

    def submit(self, request: GenerationRequest, prompt_field: str = "prompt") -> Generation:
        """Gives a request a place in the line. Raises InvalidRequest for the prompt_field, or as require_ready()."""
        checkpoint = self.require_ready()
        self._check_prompt(request.prompt_ids, prompt_field, checkpoint)
        streamer = TokenStreamer(checkpoint.tokenizer, request.stop)
        generation = Generation(request, streamer, self._queue, self._settings.queue_timeout)
        generation.enter(self._inbox.put)
        return generation

    def status(self) -> EngineStatus:
        checkpoint = self._checkpoint
        return EngineStatus(
            state="error" if self._error is not None else "loading" if checkpoint is None else "ok",
            progress=self._progress,
            error=self._error,
            device=checkpoint and checkpoint.device,
            dtype=checkpoint and checkpoint.dtype,
            attention=checkpoint and "torch-sdpa",
            load_seconds=self._load_seconds,
            queue_depth=self._queue.depth,
            active=int(self._queue.is_busy),
        )

    def _check_prompt(self, prompt_ids: tuple[int, ...], field: str, checkpoint: Checkpoint) -> None:
        if not prompt_ids:
            raise InvalidRequest("the prompt is empty", param=field)
        if min(prompt_ids) < 0 or max(prompt_ids) >= checkpoint.vocab_size:
            raise InvalidRequest(f"token ids must be from 0 to {checkpoint.vocab_size - 1}", param=field)
        checkpoint.tokenizer.check_length(len(prompt_ids), field)

    def _run(self) -> None:
        self._load_model()
        if self._checkpoint is None:
            return
        while (generation := self._inbox.get()) is not None:
            self._running = generation
            if self._is_stopping:  # set before stop() looked at _running
                generation.interrupt(ShuttingDown("the server is shutting down"))
            self._generate(generation, self._checkpoint)
            self._running = None

    def _load_model(self) -> None:
        started = time.monotonic()
        if self._settings.torch_threads:
            torch.set_num_threads(self._settings.torch_threads)
        try:
            checkpoint = self._load(self._settings, self._set_progress)
        except CheckpointError as error:
            self._error = str(error)
            logger.error("the model could not be loaded: %s", error)
        except Exception as error:
            self._error = f"{type(error).__name__}: {error}"
            logger.exception("the model could not be loaded")
        else:
            self._load_seconds = round(time.monotonic() - started, 1)
            self._progress = 1.0
            logger.info("%s is ready after %.1f s: %s", self._settings.model_path, self._load_seconds, checkpoint.dtype)
            self._checkpoint = checkpoint

    def _set_progress(self, fraction: float) -> None:
        self._progress = fraction

    def _generate(self, generation: Generation, checkpoint: Checkpoint) -> None:
        try:
            generation.finish_reason = decode(
                checkpoint, generation.request, generation.streamer, generation.is_cancelled
            )
        except Cancelled:
            pass  # closed by its reader, or failed already
        except BaseException:  # panics of native libraries are no Exceptions
            logger.exception("generation failed")
            generation.fail(GenerationFailed("the model failed while generating; the server's log says more"))
        finally:
            # The slot first: who has read the last of this text must find it free.
            self._queue.release()
            generation.streamer.end()
