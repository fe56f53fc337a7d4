"""What runs on a node of a Ray cluster: an attempt, by the local executor of that node.

A process that Ray keeps for easeml's tasks has one local executor, warm from task to task. So a body
there is a confined and limited child, as on every other machine, and ends as it does there.
"""

import fcntl
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

from ray.experimental.internal_kv import (  # pyright: ignore[reportMissingImports]
    _internal_kv_get,
)

from easeml.confinement import Isolation
from easeml.contract.tasks import Limits, TaskResult
from easeml.engine import task_main
from easeml.errors import Conflict
from easeml.folders import remove_folder, temporary_folder
from easeml.service.tasks.logs import LARGEST_LOG, read_plain
from easeml.version import __version__

from . import packing
from .base import Outcome
from .local import LocalExecutor

if TYPE_CHECKING:
    import numpy as np

NAMESPACE = "easeml"
"""Of the keys by which a running attempt is told something."""

_LOOK_EVERY = 0.25  # seconds between looks for what was printed, and for a wish that it ends

_warm: dict[object, LocalExecutor] = {}


@dataclass(frozen=True, slots=True)
class Told:
    """What a node is told of an attempt.

    ``wish``: key under which the seconds of grace are put when it shall end. ``usual``: limits of
    most attempts. ``run`` and ``preload``: as the local executor has them. ``version``: of the
    easeml that asks.
    """

    wish: str
    limits: Limits
    usual: Limits
    isolation: Isolation
    run: Callable[[Path], TaskResult]
    preload: tuple[str, ...]
    version: str = __version__


Sent = tuple[Literal["begun", "log", "outputs"], bytes] | tuple[Literal["ended"], Outcome]
"""What comes back: that it runs, what it prints, and at its end its packed outputs and how it
ended.
"""


def run_attempt(told: Told, *parts: "np.ndarray") -> Iterator[Sent]:
    """Run an attempt; each of ``parts`` holds packed bytes: its words first, then its inputs.

    Raises ``Conflict`` where this node has another version of easeml.
    """
    if told.version != __version__:
        raise Conflict(
            f"The node has easeml {__version__}, this is {told.version}.",
            remedy=f"Install the same on all nodes: pip install easeml=={told.version}.",
        )
    _own_folder()
    with temporary_folder("attempt-") as folder:
        words, *inputs = parts
        _lay_out(words, folder)
        (folder / task_main.INPUTS).mkdir(exist_ok=True)
        for part in inputs:
            _lay_out(part, folder / task_main.INPUTS)
        executor = _executor(told)
        yield "begun", b""
        try:
            outcome = yield from _watched(executor, told, folder)
        except BaseException:  # Ray interrupts a task that is cancelled, wherever it is
            executor.close()
            _warm.clear()
            raise
        yield from _outputs(outcome, folder)
        yield "ended", outcome


def _watched(executor: LocalExecutor, told: Told, folder: Path) -> Iterator[Sent]:
    """Have the body run and send what it prints; return its outcome."""
    execution = executor.start(folder, told.limits)
    with ThreadPoolExecutor(1, "wait") as waiting:
        ended: Future[Outcome] = waiting.submit(execution.wait)
        try:
            printed = 0
            while not wait([ended], timeout=_LOOK_EVERY).done:
                if grace := _internal_kv_get(told.wish, namespace=NAMESPACE):
                    execution.ask_to_end(float(grace))
                if piece := read_plain(folder / task_main.LOG, printed, LARGEST_LOG):
                    printed += len(piece)
                    yield "log", piece
        except BaseException:
            execution.kill()  # the thread that waits ends by this
            raise
        if piece := read_plain(folder / task_main.LOG, printed, LARGEST_LOG):
            yield "log", piece
        return ended.result()


def _outputs(outcome: Outcome, folder: Path) -> Iterator[Sent]:
    """Send what the body brings."""
    if not outcome.result.ok or not outcome.result.outputs:
        return
    with tempfile.TemporaryFile() as packed:
        packing.pack([folder / task_main.OUTPUTS], packed)
        for piece in packing.pieces(packed):
            yield "outputs", piece


def _lay_out(part: "np.ndarray", folder: Path) -> None:
    with tempfile.TemporaryFile() as packed:
        part.tofile(packed)
        packing.unpack(packed, folder)


def _executor(told: Told) -> LocalExecutor:
    """Return the executor of this process, which is made when it is first asked for."""
    key = told.run, told.preload, told.isolation
    if key not in _warm:
        # Children would import Ray's program again, as what they were started from.
        vars(sys.modules["__main__"]).pop("__file__", None)
        _warm[key] = LocalExecutor(told.usual, told.run, told.preload, isolation=told.isolation)
    return _warm[key]


@cache
def _own_folder() -> IO[str]:
    """Let this process have a folder for temporary files, and remove those of processes that ended.

    Whoever holds the lock on a folder's file lives: Ray kills processes, which then remove nothing.
    """
    home = Path(tempfile.gettempdir()) / f"easeml-ray-{os.getuid()}"
    home.mkdir(mode=0o700, exist_ok=True)
    with (home / "lock").open("w") as all_folders:
        fcntl.flock(all_folders, fcntl.LOCK_EX)
        for path in home.glob("*/lock"):
            if _is_free(path):
                remove_folder(path.parent)
        own = Path(tempfile.mkdtemp(dir=home))
        held = (own / "lock").open("w")
        fcntl.flock(held, fcntl.LOCK_EX)
    tempfile.tempdir = str(own)
    return held


def _is_free(lock: Path) -> bool:
    with lock.open("w") as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True
