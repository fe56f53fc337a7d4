"""Checkpoints: what an attempt that was stopped has left is found by the next one of its task, where
that runs on the same machine.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import structlog

from easeml.contract.states import FINISHED_TASKS
from easeml.contract.tasks import MOST_MEMBERS, checkpoint_of
from easeml.errors import EasemlError
from easeml.folders import remove_folder
from easeml.modules.checkpoints import copy_files
from easeml.store import Store
from easeml.store.records import Attempt

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """``kept``: a folder with a folder for each attempt that was stopped; ``work``: the folder of the
    workers' own folders, in which those of killed workers lie until the next one starts.
    """

    store: Store
    kept: Path
    work: Path

    def bring(self, attempt: Attempt, folder: Path) -> None:
        """Put what the newest earlier attempt left into the work folder of an attempt."""
        for place in chain.from_iterable(map(self._places, self._earlier(attempt))):
            if _copied(place, folder):
                return

    def keep(self, attempt_id: str, folder: Path) -> None:
        """Keep what an attempt that was stopped has left in its work folder."""
        _copied(folder, self.kept / attempt_id)

    def forget(self, attempt: Attempt) -> None:
        """Remove what earlier attempts left: this one has a result."""
        for earlier in self._earlier(attempt):
            remove_folder(self.kept / earlier)

    def keep_those_of(self, worker: Path) -> None:
        """Keep what the attempts of a worker that has ended left in its folder."""
        for folder in worker.glob("*"):
            self.keep(folder.name, folder)

    def remove_unneeded(self) -> None:
        """Remove what belongs to tasks that have ended."""
        for path in list(self.kept.glob("*")):
            if not self._is_needed(path.name):
                remove_folder(path)

    def _is_needed(self, attempt_id: str) -> bool:
        """Whether the task of an attempt is there, and has not ended."""
        with self.store.read() as tx:
            tables = tx.unscoped()
            attempt = tables.attempts.find(id=attempt_id)
            if attempt is None:
                return False
            task = tables.tasks.find(id=attempt.task_id)
        return task is not None and task.state not in FINISHED_TASKS

    def _earlier(self, attempt: Attempt) -> list[str]:
        if attempt.number == 1:
            return []
        with self.store.read() as tx:
            found = tx.unscoped().attempts.list(task_id=attempt.task_id, newest_first=True)
        return [one.id for one in found if one.number < attempt.number]

    def _places(self, attempt_id: str) -> Iterator[Path]:
        yield self.kept / attempt_id
        yield from self.work.glob(f"*/{attempt_id}")


class NoCheckpoints:
    """Keeps nothing: every attempt begins anew."""

    def bring(self, attempt: Attempt, folder: Path) -> None:
        """Bring nothing."""

    def keep(self, attempt_id: str, folder: Path) -> None:
        """Keep nothing."""

    def forget(self, attempt: Attempt) -> None:
        """Forget nothing: there is nothing."""


def _copied(source: Path, target: Path) -> bool:
    """Copy the checkpoints of a work folder, and tell whether there was one. One that cannot be copied
    is none: whoever wrote it must not end a worker by it.
    """
    copied: list[str] = []
    for name in map(checkpoint_of, range(MOST_MEMBERS)):
        try:
            copied += copy_files(source / name, target / name)
        except (EasemlError, OSError):
            _log.warning("a checkpoint could not be kept", place=str(source), exc_info=True)
    return bool(copied)
