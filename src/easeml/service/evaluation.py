"""What a training task left to look at: how its model does, and what its attempts printed."""

import os
import stat
from pathlib import Path

from easeml.contract.evaluation import AttemptLog, Evaluation, TaskReport
from easeml.errors import NotFound
from easeml.service import importance, knowledge
from easeml.service.caller import Caller
from easeml.store import Store
from easeml.store.records import Attempt

LARGEST_LOG = 200_000  # bytes that are kept of what an attempt printed, and given at once
_LARGEST_EVALUATION = 5_000_000


def report(store: Store, caller: Caller, task_id: str) -> TaskReport:
    """Return how the model of a task does on validation rows, as far as that is known; raises
    ``NotFound``.
    """
    with store.read() as tx:
        rooms = tx.scoped(caller.tenant_id)
        task = rooms.tasks.get(task_id)
        model = rooms.models.find(task_id=task.id)
        measured = importance.find(rooms, task.id)
    found = None
    if model is not None and model.evaluation:
        content = read_plain(
            store.artefacts.path(caller.tenant_id, model.evaluation), 0, _LARGEST_EVALUATION
        )
        found = Evaluation.model_validate_json(content)
    titles = {one.name: one.title for one in knowledge.registry().of_kind("objective")}
    return TaskReport(evaluation=found, importance=measured, objectives=titles)


def log(
    store: Store,
    work: Path,
    caller: Caller,
    task_id: str,
    *,
    attempt: int | None = None,
    offset: int = 0,
) -> AttemptLog:
    """Return what an attempt (None: the newest) printed from byte ``offset`` on, also while it
    runs.

    ``work``: the folder with the work folders of the workers. Raises ``NotFound``.
    """
    with store.read() as tx:
        rooms = tx.scoped(caller.tenant_id)
        task = rooms.tasks.get(task_id)
        found = rooms.attempts.find(
            task_id=task.id, number=task.attempts if attempt is None else attempt
        )
    if found is None:
        raise NotFound("There is no such attempt.", where=task_id)
    content = printed(store, work, found, offset)
    return AttemptLog(
        attempt=found.number,
        text=content.decode(errors="replace"),
        offset=offset,
        next=offset + len(content),
        ended=found.state != "running",
    )


def printed(store: Store, work: Path, attempt: Attempt, offset: int = 0) -> bytes:
    """Return what an attempt printed from byte ``offset`` on, as far as it is here."""
    if attempt.state == "running":
        return read_plain(work / attempt.process_id / attempt.id / "log.txt", offset, LARGEST_LOG)
    path = store.artefacts.path(attempt.tenant_id, attempt.log) if attempt.log else None
    return read_plain(path, offset, LARGEST_LOG) if path else b""


def read_plain(path: Path, offset: int, most: int) -> bytes:
    """Return bytes of a regular file, nothing where there is none: what a body left may be
    anything, such as a link.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    try:
        return (
            os.pread(descriptor, most, offset)
            if stat.S_ISREG(os.fstat(descriptor).st_mode)
            else b""
        )
    finally:
        os.close(descriptor)
