"""Executor of an existing Ray cluster: easeml says what an attempt needs, Ray says where it runs.

Work folders travel by Ray's object store, so nodes share no folder with easeml and hold no keys of
its database or bucket. Ray repeats nothing by itself: a lost node costs an attempt, which easeml
counts and makes again.
"""

import signal
import tarfile
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import ray  # pyright: ignore[reportMissingImports]
from ray import exceptions  # pyright: ignore[reportMissingImports]
from ray.experimental.internal_kv import (  # pyright: ignore[reportMissingImports]
    _internal_kv_del,
    _internal_kv_put,
)

from easeml.confinement import Isolation
from easeml.contract.tasks import Limits, TaskResult, TaskSpec
from easeml.engine import task_main
from easeml.errors import EasemlError, Unreachable
from easeml.ids import new_id

from . import packing
from .base import Ending, Execution, Outcome
from .local import IMPORTS, LocalExecutor
from .ray_node import NAMESPACE, Told, run_attempt

_KEPT_INPUTS = 2**30  # bytes of inputs that the cluster keeps for attempts to come
_MOST_AT_ONCE = 64
_TO_END = 5.0  # seconds in which a node ends a cancelled attempt; then its process is ended
_AHEAD = 8  # pieces that a node sends before the first of them was taken


class RayExecutor:
    """Runs bodies on the cluster that ``RAY_ADDRESS`` names, or on this machine's.

    An attempt asks Ray for as many processors as it has threads, and for its memory. What needs
    this machine runs here: containers, whose images lie here, and what was granted a secret.
    """

    def __init__(
        self,
        limits: Limits,
        run: Callable[[Path], TaskResult] = task_main.run,
        preload: Sequence[str] = IMPORTS,
        *,
        isolation: Isolation = "none",
    ):
        """See ``LocalExecutor``. Raises ``Unreachable`` where no cluster answers."""
        self._here = LocalExecutor(limits, run, preload, isolation=isolation)
        _connect()
        self._told = Told("", limits, limits, isolation, run, tuple(preload))
        self._inputs = _Inputs()
        self._running: set[_RayExecution] = set()
        self._threads = ThreadPoolExecutor(_MOST_AT_ONCE, "ray")

    def start(self, folder: Path, limits: Limits) -> Execution:
        """Have the cluster run the body in ``folder``; returns at once."""
        if task_main.needs_this_machine(folder):
            return self._here.start(folder, limits)
        told = replace(self._told, wish=new_id("wish"), limits=limits)
        execution = _RayExecution(folder, told, self._inputs, self._running.discard)
        self._running.add(execution)
        execution.begin(self._threads)
        return execution

    def close(self) -> None:
        """Cancel what still runs, and leave the cluster."""
        for execution in list(self._running):
            execution.kill()
        self._threads.shutdown()
        self._here.close()
        ray.shutdown()


class _RayExecution:
    def __init__(
        self,
        folder: Path,
        told: Told,
        inputs: "_Inputs",
        ended: Callable[["_RayExecution"], None],
    ):
        self._folder = folder
        self._told = told
        self._inputs = inputs
        self._ended = ended
        self._guard = threading.Lock()
        self._task: Any = None  # what Ray gave for it
        self._stopped_as: Ending | None = None
        self._begun: float | None = None
        self._over = False

    def begin(self, threads: ThreadPoolExecutor) -> None:
        """Follow the attempt in a thread: to pack a large input takes a moment."""
        self._outcome = threads.submit(self._follow)

    def wait(self) -> Outcome:
        return self._outcome.result()

    def kill(self) -> None:
        self._stop("killed")

    def ask_to_end(self, grace: float) -> None:
        """See ``Execution``. The node looks for a key of the cluster."""
        if self._over:
            return
        with suppress(exceptions.RayError, RuntimeError):  # the cluster is away: nothing to ask
            _internal_kv_put(self._told.wish, str(grace), namespace=NAMESPACE)
        self._after(grace + _TO_END, lambda: self._stop("suspended"))

    def _stop(self, ending: Ending) -> None:
        with self._guard:
            if self._over or self._stopped_as:
                return
            self._stopped_as = ending
            if self._task is not None:
                self._cancel(force=False)
        self._after(_TO_END, lambda: self._cancel(force=True))

    def _cancel(self, *, force: bool) -> None:
        with suppress(exceptions.RayError, ValueError):  # it has just ended
            if not self._over:
                ray.cancel(self._task, force=force)

    def _after(self, seconds: float, do: Callable[[], None]) -> None:
        timer = threading.Timer(seconds, do)
        timer.daemon = True
        timer.start()

    def _follow(self) -> Outcome:
        """Submit the attempt, and take what it sends until it has ended."""
        try:
            return self._taken(self._submitted())
        except (exceptions.RayError, tarfile.TarError) as error:
            return self._lost(error)
        finally:
            self._over = True
            with suppress(exceptions.RayError, RuntimeError):
                _internal_kv_del(self._told.wish, namespace=NAMESPACE)
            self._ended(self)

    def _submitted(self) -> Any:
        words = [path for path in self._folder.iterdir() if path.name != task_main.INPUTS]
        limits = self._told.limits
        task = ray.remote(run_attempt).options(
            name=f"easeml {self._folder.name}",
            num_cpus=limits.threads,
            memory=limits.memory,
            max_retries=0,
            num_returns="streaming",
            _generator_backpressure_num_objects=_AHEAD,
        )
        parts = [_put(words)[0], *self._inputs.of(self._folder)]
        with self._guard:
            self._task = task.remote(self._told, *parts)
            if self._stopped_as:
                self._cancel(force=False)
        return self._task

    def _taken(self, sent: Any) -> Outcome:
        """Keep what is printed and brought in the work folder; return how it ended."""
        with (self._folder / task_main.LOG).open("ab") as log, tempfile.TemporaryFile() as outputs:
            for reference in sent:
                kind, content = ray.get(reference)
                if kind == "begun":
                    self._begun = time.monotonic()
                elif kind == "log":
                    log.write(content)
                    log.flush()
                elif kind == "outputs":
                    outputs.write(content)
                else:
                    if outputs.tell():
                        packing.unpack(outputs, self._folder)
                    return content
        raise exceptions.RayError("The node sent no end.")

    def _lost(self, error: Exception) -> Outcome:
        """Return what came of an attempt that Ray does not end as easeml does."""
        seconds = time.monotonic() - self._begun if self._begun else 0.0
        ending, text, retry = self._told_by(error)
        return Outcome(ending, TaskResult(ok=False, error=text, retry=retry, cost=seconds), seconds)

    def _told_by(self, error: Exception) -> tuple[Ending, str, bool]:
        """Return how it ended, what to say of it, and whether another attempt is worth it."""
        if self._stopped_as:
            return self._stopped_as, "The attempt was stopped.", True
        if isinstance(error, exceptions.OutOfMemoryError):
            return "out-of-memory", f"The node of the task ran out of memory.\n{error}", True
        if isinstance(error, tarfile.TarError):
            return "crashed", f"What the task brought is not laid out: {error}.", False
        cause = getattr(error, "cause", None)
        if isinstance(cause, EasemlError):
            return "crashed", str(cause), False
        return "lost", f"Ray lost the task.\n{error}", True


class _Inputs:
    """Packed inputs by digest, as the cluster keeps them: a node fetches each once."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], tuple[Any, int]] = OrderedDict()

    def of(self, folder: Path) -> list[Any]:
        """Return references to the inputs of a work folder."""
        spec = folder / task_main.SPEC
        digests = {}
        if spec.exists():
            digests = TaskSpec.model_validate_json(spec.read_bytes()).inputs
        places = folder / task_main.INPUTS
        paths = sorted(places.iterdir()) if places.exists() else []
        return [self._reference(path, digests.get(path.name)) for path in paths]

    def _reference(self, path: Path, digest: str | None) -> Any:
        if digest is None:
            return _put([path])[0]
        key = (path.name, digest)
        with self._guard:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key][0]
        packed = _put([path])
        with self._guard:
            self._kept[key] = packed
            while sum(size for _, size in self._kept.values()) > _KEPT_INPUTS:
                self._kept.popitem(last=False)
        return packed[0]


def _put(paths: Sequence[Path]) -> tuple[Any, int]:
    """Put files and folders, packed, into Ray's object store; return reference and bytes."""
    with tempfile.NamedTemporaryFile() as file:
        packing.pack(paths, file)
        content = np.memmap(file.name, mode="r")
        return ray.put(content), content.nbytes


def _connect() -> None:
    with _own_signals():
        try:
            ray.init(
                address="auto",
                log_to_driver=False,
                logging_level="warning",
                ignore_reinit_error=True,
            )
        except ConnectionError as error:
            raise Unreachable(
                "No Ray cluster answers.",
                where="RAY_ADDRESS",
                remedy="Start a node on this machine: ray start --address=HEAD:6379 --num-cpus=0.",
            ) from error


@contextmanager
def _own_signals() -> Iterator[None]:
    """Have the handlers of signals afterwards that there were before: Ray puts its own."""
    numbers = (signal.SIGTERM, signal.SIGINT)
    handlers = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, handlers, strict=True):
        signal.signal(number, handler)
