"""Checkpoints: what an attempt that was stopped has left is found by the next one of its task, on
the same machine or, where machines share artefacts, on any.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import structlog

from easeml.contract.states import FINISHED_TASKS, TASKS_UNDER_WAY
from easeml.contract.tasks import MOST_MEMBERS, checkpoint_of
from easeml.errors import EasemlError
from easeml.folders import remove_folder
from easeml.modules.checkpoints import copy_files
from easeml.service.storage import artefact_references
from easeml.store import Store
from easeml.store.records import Attempt

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """``kept``: a folder with a folder for each attempt that was stopped; ``work``: the folder of the
    workers' own folders, in which those of killed workers lie until the next one starts.
    ``shares``: whether other machines reach the artefacts.
    """

    store: Store
    kept: Path
    work: Path
    shares: bool = False

    def bring(self, attempt: Attempt, folder: Path) -> None:
        """Put what the newest earlier attempt left into the work folder of an attempt."""
        for earlier in self._earlier(attempt):
            if any(_copied(place, folder) for place in self._places(earlier.id)):
                return
            if earlier.checkpoint and self._is_fetched(earlier, folder):
                return

    def hand_on(self, attempt: Attempt, folder: Path) -> None:
        """Keep what an attempt that was stopped has left, for any machine that takes its task next.

        To be called before another machine may take it. What cannot be shared stays here.
        """
        self.keep(attempt.id, folder)
        place = self.kept / attempt.id
        if not self.shares or not place.is_dir():
            return
        try:
            self._share(attempt, place)
        except (EasemlError, OSError):
            _log.warning("a checkpoint stays on this machine", attempt=attempt.id, exc_info=True)

    def keep(self, attempt_id: str, folder: Path) -> None:
        """Keep what an attempt that was stopped has left in its work folder."""
        _copied(folder, self.kept / attempt_id)

    def forget(self, attempt: Attempt) -> None:
        """Remove what earlier attempts left: this one has a result."""
        earlier = self._earlier(attempt)
        for one in earlier:
            remove_folder(self.kept / one.id)
        shared = [one for one in earlier if one.checkpoint]
        if not shared:
            return
        with self.store.write() as tx:
            for one in shared:
                tx.unscoped().attempts.update(one.id, checkpoint="")
                reference = artefact_references.id_of(one.tenant_id, one.checkpoint)
                tx.scoped(one.tenant_id).artefacts.forget(tx.now() + 1.0, id=reference)

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

    def _share(self, attempt: Attempt, place: Path) -> None:
        """Keep a checkpoint as an artefact, unless its task has ended: it may be cancelled."""
        digest = self.store.artefacts.put(attempt.tenant_id, place)
        size = sum(path.stat().st_size for path in place.rglob("*") if path.is_file())
        with self.store.write() as tx:
            tables = tx.scoped(attempt.tenant_id)
            if tables.tasks.get(attempt.task_id).state in TASKS_UNDER_WAY:
                artefact_references.keep(tx, attempt.tenant_id, digest, size)
                tables.attempts.update(attempt.id, checkpoint=digest)

    def _is_fetched(self, earlier: Attempt, folder: Path) -> bool:
        """Bring what an attempt on another machine has left; False where that is not to be had."""
        place = self.kept / earlier.id
        try:
            self.store.artefacts.fetch(earlier.tenant_id, earlier.checkpoint, place)
        except (EasemlError, OSError):
            _log.warning("a checkpoint could not be fetched", attempt=earlier.id, exc_info=True)
            remove_folder(place)
            return False
        return _copied(place, folder)

    def _earlier(self, attempt: Attempt) -> list[Attempt]:
        """Return the earlier attempts of a task, the newest first."""
        if attempt.number == 1:
            return []
        with self.store.read() as tx:
            found = tx.unscoped().attempts.list(task_id=attempt.task_id, newest_first=True)
        return [one for one in found if one.number < attempt.number]

    def _places(self, attempt_id: str) -> Iterator[Path]:
        yield self.kept / attempt_id
        yield from self.work.glob(f"*/{attempt_id}")


class NoCheckpoints:
    """Keeps nothing: every attempt begins anew."""

    def bring(self, attempt: Attempt, folder: Path) -> None:
        """Bring nothing."""

    def hand_on(self, attempt: Attempt, folder: Path) -> None:
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
