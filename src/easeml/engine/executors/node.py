"""What runs where an attempt was sent to: on a node of a cluster, by that machine's local executor.

So a body there is a confined and limited child, as on every other machine, and ends as it does
there.
"""

import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO, Literal

from pydantic import BaseModel, ConfigDict

from easeml.confinement import Isolation
from easeml.contract.tasks import MOST_MEMBERS, Limits, TaskResult, checkpoint_of
from easeml.engine import task_main
from easeml.errors import Conflict
from easeml.folders import remove_folder
from easeml.service.tasks.logs import LARGEST_LOG, read_plain
from easeml.version import __version__

from . import packing
from .base import Outcome
from .local import LocalExecutor

LOOK_EVERY = 0.25
"""Seconds between looks for what was printed, and for a wish that the body ends."""


class Told(BaseModel):
    """What a node is told of the attempts that it is sent.

    ``usual``: limits of most of them. ``run`` (``module:function``) and ``preload``: as the local
    executor has them. ``version``: of the easeml that asks.
    """

    model_config = ConfigDict(frozen=True)

    usual: Limits
    isolation: Isolation
    run: str
    preload: tuple[str, ...]
    version: str = __version__

    @classmethod
    def of(
        cls,
        usual: Limits,
        run: Callable[[Path], TaskResult],
        preload: Sequence[str],
        isolation: Isolation,
    ) -> "Told":
        """Name ``run``, a function of a module that nodes have as well."""
        name = f"{run.__module__}:{run.__qualname__}"
        return cls(usual=usual, isolation=isolation, run=name, preload=tuple(preload))

    def executor(self) -> LocalExecutor:
        """Return the executor that runs what is sent; made in the main thread.

        Raises ``Conflict`` where this node has another version of easeml.
        """
        if self.version != __version__:
            raise Conflict(
                f"The node has easeml {__version__}, this is {self.version}.",
                remedy=f"Install the same on all nodes: pip install easeml=={self.version}.",
            )
        module, _, name = self.run.partition(":")
        run = getattr(import_module(module), name)
        return LocalExecutor(self.usual, run, self.preload, isolation=self.isolation)


Sent = tuple[Literal["begun", "log", "files"], bytes] | tuple[Literal["ended"], Outcome]
"""What a node sends back: that the body runs, what it prints, and at its end the packed files that
it leaves, and how it ended.
"""


class Stopped(Exception):
    """Nobody waits for this attempt any more."""


def run_attempt(
    executor: LocalExecutor, folder: Path, limits: Limits, asked: Callable[[], float | None]
) -> Iterator[Sent]:
    """Run the body of a work folder.

    Args:
        executor: of this node.
        folder: as a worker lays it out for a body.
        limits: of this attempt.
        asked: called often; returns seconds of grace once the body shall end with what it has, and
            may raise, which kills the body and goes on to the caller.
    """
    yield "begun", b""
    outcome = yield from _watched(executor, folder, limits, asked)
    yield from _left(outcome, folder)
    yield "ended", outcome


def _watched(
    executor: LocalExecutor, folder: Path, limits: Limits, asked: Callable[[], float | None]
) -> Iterator[Sent]:
    """Have the body run and send what it prints; return its outcome."""
    execution = executor.start(folder, limits)
    with ThreadPoolExecutor(1, "wait") as waiting:
        ended: Future[Outcome] = waiting.submit(execution.wait)
        try:
            printed = 0
            while not wait([ended], timeout=LOOK_EVERY).done:
                if (grace := asked()) is not None:
                    execution.ask_to_end(grace)
                if piece := read_plain(folder / task_main.LOG, printed, LARGEST_LOG):
                    printed += len(piece)
                    yield "log", piece
        except BaseException:
            execution.kill()  # the thread that waits ends by this
            raise
        if piece := read_plain(folder / task_main.LOG, printed, LARGEST_LOG):
            yield "log", piece
        return ended.result()


def _left(outcome: Outcome, folder: Path) -> Iterator[Sent]:
    """Send the outputs of a body that has a result, and the checkpoints of one that has none."""
    names = [task_main.OUTPUTS] if outcome.result.outputs else []
    if not outcome.result.ok:
        names = list(map(checkpoint_of, range(MOST_MEMBERS)))
    paths = [folder / name for name in names if (folder / name).is_dir()]
    if not paths:
        return
    with tempfile.TemporaryFile() as packed:
        packing.pack(paths, packed)
        for piece in packing.pieces(packed):
            yield "files", piece


@cache
def own_folder(cluster: str) -> IO[str]:
    """Let this process have a folder for temporary files, and remove those of processes that ended.

    Whoever holds the lock on a folder's file lives: clusters kill processes, which then remove
    nothing.
    """
    home = Path(tempfile.gettempdir()) / f"easeml-{cluster}-{os.getuid()}"
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
