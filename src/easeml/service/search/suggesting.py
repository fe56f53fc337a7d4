"""Asking an optimizer that is a folder of programs: a task asks it (decision 0044).

What becomes of the answer: ``service.modules.suggestions``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from easeml.contract.states import FINISHED_TASKS, TaskGroup, TaskState
from easeml.modules import Module
from easeml.search.optimizers import Tried
from easeml.service.tasks import requests
from easeml.store import Transaction
from easeml.store.records import Job, Json, Task
from easeml.store.shapes import Shape

KIND = "suggest"
EACH = 2  # configurations at once, of a model that gets more
_PATIENCE = 3  # faults in a row after which a search does not ask it again
_LOOKED_AT = 30  # of the newest other tasks of a job


@dataclass(frozen=True, slots=True)
class Wanted:
    """A model that is to get more configurations: its space, and what was tried of it."""

    model: str
    space: Json
    tried: list[Tried]


@dataclass(frozen=True, slots=True)
class _Asked(Shape):
    """What a task says of an optimizer; other tasks say nothing."""

    optimizer: str = ""


def request(tx: Transaction, job: Job, optimizer: Module, wanted: Sequence[Wanted]) -> Task:
    """Have the optimizer asked for configurations of each model."""
    asked = []
    for one in wanted:
        history = [{"config": each.config, "quality": each.quality} for each in one.tried]
        asked.append({"model": one.model, "space": one.space, "history": history})
    return requests.request(
        tx,
        job.tenant_id,
        KIND,
        job.id,
        job_id=job.id,
        max_attempts=1,
        optimizer=optimizer.name,
        source=optimizer.source,
        asked=asked,
        number=EACH,
    )


def is_under_way(tx: Transaction, job: Job) -> bool:
    """Whether an optimizer is being asked for the job."""
    return bool(requests.under_way(tx.scoped(job.tenant_id), KIND, job.id))


def is_given_up(tx: Transaction, job: Job, optimizer: Module) -> bool:
    """Whether it did wrong so often, one time after the other, that the search goes on without."""
    tables = tx.scoped(job.tenant_id)
    newest = tables.tasks.list(
        job_id=job.id,
        kind=TaskGroup.ADVISE,
        state=FINISHED_TASKS,
        newest_first=True,
        limit=_LOOKED_AT,
    )
    asked = [task for task in newest if _Asked.from_json(task.payload).optimizer == optimizer.name]
    last = asked[:_PATIENCE]
    return len(last) == _PATIENCE and all(map(_was_wrong, last))


def _was_wrong(task: Task) -> bool:
    if task.state == TaskState.FAILED:
        return True
    result = task.result or {}
    return bool(result.get("fault"))
