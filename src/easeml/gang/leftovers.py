"""What the processes of a job leave behind: all that they have started, in whichever session.

A process of a job and all that it starts have the run's id in their environment, unless they clear
it. Linux shows the environment of a process; elsewhere nothing is found.
"""

import fcntl
import os
import secrets
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from easeml.errors import Conflict

RUN = "EASEML_RUN"
_LOCK = "run"  # file in the folder of a job: locked while it runs, holds the run's id
_ROUNDS = 20  # of looking for what was started meanwhile


@contextmanager
def only_run(folder: Path) -> Iterator[str]:
    """Give the id of a run that has ``folder`` for itself, while the context lasts.

    What an earlier run left, since it was killed, is ended first. Raises ``Conflict`` where a run
    is under way there.
    """
    with (folder / _LOCK).open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise Conflict(
                "The job is running there already.",
                where=str(folder),
                remedy="Wait for its end, or name another folder: --folder.",
            ) from error
        lock.seek(0)
        end_leftovers({RUN: lock.read()})
        run = secrets.token_hex(8)
        lock.truncate(0)
        lock.write(run)
        lock.flush()
        yield run


def end_leftovers(told: Mapping[str, str]) -> None:
    """Kill every process that has these variables, and what it starts meanwhile."""
    if not all(told.values()):
        return
    marks = {f"{name}={value}".encode() for name, value in told.items()}
    for _ in range(_ROUNDS):
        found = list(filter(partial(_has, marks), Path("/proc").glob("[0-9]*")))
        list(map(_kill, found))
        if not found:
            return


def _has(marks: set[bytes], process: Path) -> bool:
    """Does a process live whose environment has all marks?"""
    with suppress(OSError):  # it has ended, or is somebody else's
        environment = (process / "environ").read_bytes()  # of one that has ended it is empty
        return marks <= set(environment.split(b"\0"))
    return False


def _kill(process: Path) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(int(process.name), signal.SIGKILL)
