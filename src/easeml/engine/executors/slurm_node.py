"""What runs on a node of a Slurm cluster: one attempt after the other, as they come through a pipe.

    python -P -m easeml.engine.executors.slurm_node

It ends with its standard input: then the worker is gone.
"""

import os
import select
import sys
import tempfile
import threading
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import IO

from pydantic import BaseModel

from easeml.contract.tasks import Limits
from easeml.engine import task_main
from easeml.errors import EasemlError
from easeml.folders import temporary_folder

from . import packing
from .base import Ending, Outcome
from .frames import receive, send
from .local import LocalExecutor
from .node import Stopped, Told, own_folder, run_attempt

BEAT_EVERY = 2.0
"""Seconds between two messages that a node is there."""

_KINDS = {"begun": "go", "log": "log", "files": "file"}


class Part(BaseModel):
    """Packed files of an attempt: its words, or one of its inputs. ``digest``: empty where it is not
    kept for later attempts.
    """

    digest: str = ""
    is_input: bool = False


class Attempt(BaseModel):
    """What is told of an attempt before its parts come.

    ``sent``: numbers of the parts that follow; the node has the others from the attempt before.
    """

    limits: Limits
    parts: list[Part]
    sent: list[int]


class Ended(BaseModel):
    """An outcome's ending and seconds; its result is JSON of a ``TaskResult``."""

    ending: Ending
    result: str
    seconds: float


class _Worker:
    """The worker at the other ends of standard input and output.

    What it says of an attempt that has ended by then is no longer meant.
    """

    def __init__(self) -> None:
        self._messages = os.fdopen(os.dup(0), "rb", buffering=0)
        self._answers = os.fdopen(os.dup(1), "wb", buffering=0)
        self._guard = threading.Lock()
        self._attempt = 0
        self._wishes: deque[tuple[str, bytes]] = deque()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)  # what a library prints is no message

    def told(self) -> Told:
        """Return what it says first. Raises ``EOFError`` where the worker is gone."""
        return Told.model_validate_json(receive(self._messages)[2])

    def next_attempt(self) -> Attempt:
        """Wait for the next attempt. Raises ``EOFError``."""
        while True:
            kind, number, content = receive(self._messages)
            if kind == "run":
                self._attempt = number
                self._wishes.clear()
                return Attempt.model_validate_json(content)

    def next_part(self) -> IO[bytes]:
        """Wait for a packed part of the attempt; a wish waits until all are there.

        Raises ``EOFError``.
        """
        file = tempfile.TemporaryFile()  # noqa: SIM115  kept for later attempts
        while True:
            kind, number, content = receive(self._messages)
            if kind == "part":
                file.write(content)
            elif kind == "done":
                return file
            else:
                self._note(kind, number, content)

    def asks(self) -> float | None:
        """Return the seconds of grace if it wishes that the body ends.

        Raises ``Stopped`` where it wishes that it is killed, ``EOFError``.
        """
        if select.select([self._messages], [], [], 0)[0]:
            self._note(*receive(self._messages))
        if not self._wishes:
            return None
        kind, content = self._wishes.popleft()
        if kind == "kill":
            raise Stopped
        return float(content)

    def tell(self, kind: str, content: bytes = b"") -> None:
        """Answer. Raises ``BrokenPipeError`` where the worker is gone."""
        with self._guard:
            send(self._answers, kind, content)

    def beat(self) -> None:
        """Tell from time to time that this node is there."""
        with suppress(BrokenPipeError):
            while True:
                time.sleep(BEAT_EVERY)
                self.tell("beat")

    def _note(self, kind: str, attempt: int, content: bytes) -> None:
        if attempt == self._attempt:
            self._wishes.append((kind, content))


def main() -> None:
    """Serve the worker until it is gone."""
    worker = _Worker()
    own_folder("slurm")
    told = worker.told()
    try:
        executor = told.executor()
    except EasemlError as error:
        worker.tell("no", str(error).encode())
        return
    worker.tell("hi", os.environ["SLURM_JOB_ID"].encode())
    threading.Thread(target=worker.beat, daemon=True).start()
    try:
        _serve(executor, worker)
    except (EOFError, BrokenPipeError):
        return
    finally:
        executor.close()


def _serve(executor: LocalExecutor, worker: _Worker) -> None:
    kept: dict[str, IO[bytes]] = {}
    while True:
        attempt = worker.next_attempt()
        kept = _parts(attempt, kept, worker)
        with temporary_folder("attempt-") as folder:
            _lay_out(attempt, kept, folder)
            last = _run(executor, folder, attempt.limits, worker)
        worker.tell(*last)


def _parts(attempt: Attempt, kept: dict[str, IO[bytes]], worker: _Worker) -> dict[str, IO[bytes]]:
    """Return the packed parts by their numbers and digests, of which those that are sent come now."""
    found: dict[str, IO[bytes]] = {}
    for number, part in enumerate(attempt.parts):
        key = part.digest or str(number)
        found[key] = worker.next_part() if number in attempt.sent else kept[key]
    return found


def _lay_out(attempt: Attempt, packed: dict[str, IO[bytes]], folder: Path) -> None:
    inputs = folder / task_main.INPUTS
    inputs.mkdir()
    for number, part in enumerate(attempt.parts):
        packing.unpack(packed[part.digest or str(number)], inputs if part.is_input else folder)


def _run(
    executor: LocalExecutor, folder: Path, limits: Limits, worker: _Worker
) -> tuple[str, bytes]:
    """Run a body and tell what comes of it; return the last message, for when its folder is gone."""
    try:
        for kind, content in run_attempt(executor, folder, limits, worker.asks):
            if isinstance(content, Outcome):
                return "end", _ended(content)
            worker.tell(_KINDS[kind], content)
    except Stopped:
        pass
    return "kill", b""


def _ended(outcome: Outcome) -> bytes:
    result = outcome.result.model_dump_json()
    ended = Ended(ending=outcome.ending, result=result, seconds=outcome.seconds)
    return ended.model_dump_json().encode()


if __name__ == "__main__":
    sys.exit(main())
