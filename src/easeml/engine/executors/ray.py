"""Executor of an existing Ray cluster: easeml says what an attempt needs, Ray says where it runs.

Work folders travel by Ray's object store, so nodes share no folder with easeml and hold no keys of
its database or bucket. Ray repeats nothing by itself: a lost node costs an attempt, which easeml
counts and makes again.
"""

import signal
import subprocess
import sys
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
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
from .elsewhere import ExecutorElsewhere, LostAttempt, Way
from .local import IMPORTS
from .node import Sent, Told
from .ray_node import NAMESPACE, run_on_node

_KEPT_INPUTS = 2**30  # bytes of inputs that the cluster keeps for attempts to come
_AHEAD = 8  # pieces that a node sends before the first of them was taken


class RayExecutor(ExecutorElsewhere):
    """Runs bodies on the cluster that ``RAY_ADDRESS`` names, or on this machine's.

    An attempt asks Ray for as many processors as it has threads, and for its memory.
    """

    def __init__(
        self,
        limits: Limits,
        run: Callable[[Path], TaskResult] = task_main.run,
        preload: Sequence[str] = IMPORTS,
        *,
        isolation: Isolation = "none",
    ):
        """See ``ExecutorElsewhere``."""
        super().__init__(limits, run, preload, isolation=isolation)
        _connect()
        self._inputs = _Inputs()

    @classmethod
    def check_reachable(cls) -> None:
        """Raise ``Unreachable`` where no cluster answers. Asked by a program of Ray, whose threads
        would else stay in this process.
        """
        command = [sys.executable, "-P", "-m", "ray.scripts.scripts", "health-check"]
        asked = subprocess.run(command, capture_output=True, check=False)
        if asked.returncode:
            raise _no_cluster()

    def _way(self, folder: Path, limits: Limits) -> Way:
        return _RayWay(folder, self._told, limits, self._inputs)

    def _leave(self) -> None:
        ray.shutdown()


class _RayWay:
    """An attempt as a task of Ray."""

    def __init__(self, folder: Path, told: Told, limits: Limits, inputs: "_Inputs"):
        self._folder = folder
        self._told = told
        self._limits = limits
        self._inputs = inputs
        self._wish = new_id("wish")
        self._guard = threading.Lock()
        self._task: Any = None  # what Ray gave for it
        self._cancelled = False

    def sent(self) -> Iterator[Sent]:
        """See ``Way``."""
        try:
            for reference in self._submitted():
                yield ray.get(reference)
        except exceptions.RayError as error:
            raise _lost(error) from error

    def ask_to_end(self, grace: float) -> None:
        """See ``Way``. The node looks for a key of the cluster."""
        with suppress(exceptions.RayError, RuntimeError):  # the cluster is away: nothing to ask
            _internal_kv_put(self._wish, str(grace), namespace=NAMESPACE)

    def cancel(self, *, at_once: bool) -> None:
        """See ``Way``."""
        with self._guard:
            self._cancelled = True
            if self._task is not None:
                self._cancel_task(at_once=at_once)

    def close(self) -> None:
        """Remove the key."""
        with suppress(exceptions.RayError, RuntimeError):
            _internal_kv_del(self._wish, namespace=NAMESPACE)

    def _cancel_task(self, *, at_once: bool) -> None:
        with suppress(exceptions.RayError, ValueError):  # it has just ended
            ray.cancel(self._task, force=at_once)

    def _submitted(self) -> Any:
        words = [path for path in self._folder.iterdir() if path.name != task_main.INPUTS]
        task = ray.remote(run_on_node).options(
            name=f"easeml {self._folder.name}",
            num_cpus=self._limits.threads,
            memory=self._limits.memory,
            max_retries=0,
            num_returns="streaming",
            _generator_backpressure_num_objects=_AHEAD,
        )
        parts = [_put(words)[0], *self._inputs.of(self._folder)]
        with self._guard:
            self._task = task.remote(self._told, self._limits, self._wish, *parts)
            if self._cancelled:
                self._cancel_task(at_once=False)
        return self._task


def _lost(error: Exception) -> LostAttempt:
    """Return what is said of an attempt that Ray does not end as easeml does."""
    if isinstance(error, exceptions.OutOfMemoryError):
        text = f"The node of the task ran out of memory.\n{error}"
        return LostAttempt(text, "out-of-memory")
    cause = getattr(error, "cause", None)
    if isinstance(cause, EasemlError):
        return LostAttempt(str(cause), "crashed", retry=False)
    return LostAttempt(f"Ray lost the task.\n{error}")


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
            raise _no_cluster() from error


def _no_cluster() -> Unreachable:
    return Unreachable(
        "No Ray cluster answers.",
        where="RAY_ADDRESS",
        remedy="Start a node on this machine: ray start --address=HEAD:6379 --num-cpus=0.",
    )


@contextmanager
def _own_signals() -> Iterator[None]:
    """Have the handlers of signals afterwards that there were before: Ray puts its own."""
    numbers = (signal.SIGTERM, signal.SIGINT)
    handlers = list(map(signal.getsignal, numbers))
    yield
    for number, handler in zip(numbers, handlers, strict=True):
        signal.signal(number, handler)
