"""The contract of an executor: start a body in a work folder, and say how it ended."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from easeml.contract.tasks import Limits, TaskResult

Ending = Literal[
    "finished", "crashed", "timed-out", "out-of-memory", "flooded", "killed", "suspended", "lost"
]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an execution ended.

    ``result`` is what the body wrote (``finished`` and, where Python noticed it,
    ``out-of-memory``); in every other case it is made here, with ``ok`` false, what happened, and
    the tail of the log. ``flooded``: it was ended because it filled the disk, or started processes
    without end. ``lost``: what ran it went away, by no fault of the body. ``result.cost`` is
    ``seconds``.
    """

    ending: Ending
    result: TaskResult
    seconds: float


class Execution(Protocol):
    """A body that was started."""

    def wait(self) -> Outcome:
        """Wait for the end, or end it when its time is up.

        No process of the body is left when this returns.
        """
        ...

    def ask_to_end(self, grace: float) -> None:
        """Ask the body to end with what it has; after ``grace`` seconds it is ended.

        ``wait`` then returns ``suspended``. May be called from any thread, and more than once.
        """
        ...

    def kill(self) -> None:
        """End it now; ``wait`` then returns ``killed``.

        May be called from any thread, and more than once.
        """
        ...


class Executor(Protocol):
    """Runs task bodies."""

    def start(self, folder: Path, limits: Limits) -> Execution:
        """Start the body described by ``folder/spec.json``; it writes ``folder/result.json`` and
        ``folder/outputs``.
        """
        ...

    def close(self) -> None:
        """Give back what the executor holds; nothing it started is left running."""
        ...
