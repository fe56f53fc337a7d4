"""What finished training tasks taught, over all tenants.

These are numbers by model and configuration: no data and no names.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from easeml.contract.states import TaskGroup, TaskState
from easeml.data.types.label_lists import LABELS
from easeml.errors import InvalidInput, NotFound
from easeml.modules import Module, Registry
from easeml.search import CostBelief, Work, hinted_cost, spaces
from easeml.store import Transaction
from easeml.store.records import Candidate, DatasetVersion, Task

_MOST = 2000  # the newest trials suffice to learn from
_MOST_NUMBERS = 1000  # features of a picture, tensor or graph
_SOME_NUMBERS = 100  # of one whose size is not known
_IDS_AT_ONCE = 500  # in one statement
_MOST_TRIALS = 1000  # the newest, that costs are learned from


@dataclass(frozen=True, slots=True)
class Trial:
    """One finished training task.

    ``cost``: see ``own_seconds``; ``classes``: of its target, 0 for a number. Moments in seconds of
    the epoch.
    """

    task_id: str
    job_id: str
    job_created: float
    candidate: Candidate
    rows: int
    columns: int
    classes: int
    quality: float
    cost: float
    finished: float
    device: str = ""


def finished_trials(tx: Transaction) -> list[Trial]:
    """Return the newest training tasks of all tenants that ran and finished, newest first."""
    tasks = tx.unscoped().tasks.list(
        kind=TaskGroup.TRAIN, state=TaskState.DONE, limit=_MOST, newest_first=True
    )
    return _trials(tx, [task for task in tasks if task.attempts])


def newest_finished(tx: Transaction) -> list[str]:
    """Return the ids of the tasks of ``finished_trials``."""
    finished = {"kind": TaskGroup.TRAIN, "state": TaskState.DONE}
    return tx.unscoped().tasks.newest_ids(_MOST, finished)


def trials_of(tx: Transaction, task_ids: Sequence[str]) -> list[Trial]:
    """Return these finished training tasks as trials, in the same order."""
    tasks = _by_id(tx.unscoped().tasks, task_ids)
    return _trials(tx, [tasks[id] for id in task_ids])


def _trials(tx: Transaction, tasks: Sequence[Task]) -> list[Trial]:
    tables = tx.unscoped()
    candidates = _by_id(tables.candidates, [task.candidate_id for task in tasks])
    jobs = _by_id(tables.jobs, [task.job_id for task in tasks])
    versions = _by_id(tables.versions, [job.version_id for job in jobs.values()])
    trials = []
    for task in tasks:
        version = versions[jobs[task.job_id].version_id]
        rows, columns = size(version)
        trials.append(
            Trial(
                task_id=task.id,
                job_id=task.job_id,
                job_created=jobs[task.job_id].created,
                candidate=candidates[task.candidate_id],
                rows=rows,
                columns=columns,
                classes=classes_of(version),
                quality=task.quality or 0.0,
                cost=own_seconds(task),
                finished=task.finished or task.created,
                device=task.device,
            )
        )
    return trials


def features_of(registry: Registry, candidate: Candidate) -> tuple[float, ...]:
    """Return a candidate's configuration as numbers in [0, 1].

    Empty if its module is gone or has another space by now.
    """
    with suppress(NotFound, InvalidInput):
        space = registry.get(candidate.model).space
        return spaces.features(space, candidate.pipeline.model.config)
    return ()


def work_of(registry: Registry, candidate: Candidate, version: DatasetVersion) -> Work:
    """Return what the cost of a candidate depends on, for a job on this version."""
    rows, columns = size(version)
    return _work(registry, candidate, rows, columns, classes_of(version))


def _work(registry: Registry, candidate: Candidate, rows: int, columns: int, classes: int) -> Work:
    hinted = hinted_cost({}, rows, columns)
    with suppress(NotFound):
        model = registry.get(candidate.model)
        hinted = model.hinted_cost(rows, columns, classes, candidate.pipeline.model.config)
    return Work(
        candidate.model,
        rows,
        columns,
        features_of(registry, candidate),
        job=candidate.job_id,
        hinted=hinted,
        classes=classes,
    )


def default_work(model: Module, rows: int, columns: int) -> Work:
    """Return what the cost of a model depends on, for tables of this size.

    The model has its default configuration.
    """
    config = spaces.suggest(model.space, 1, seed=0)[0]
    hinted = model.hinted_cost(rows, columns)
    return Work(
        model.name, rows, columns, spaces.features(model.space, config), job="", hinted=hinted
    )


@dataclass(frozen=True, slots=True)
class _Used:
    """What the result of a task says of its time, in seconds: see ``TaskResult``."""

    processor: float
    waited: float

    @classmethod
    def of(cls, result: Mapping[str, Any]) -> "_Used":
        processor = result.get("processor") or 0.0
        waited = result.get("waited") or 0.0
        return cls(processor, waited)


def cost_belief(registry: Registry, trials: Sequence[Trial]) -> CostBelief:
    """Return what runs are believed to cost after some ``trials``, given newest first."""
    runs = []
    for trial in reversed(trials[:_MOST_TRIALS]):
        work = _work(registry, trial.candidate, trial.rows, trial.columns, trial.classes)
        runs.append((replace(work, device=trial.device), trial.cost))
    return CostBelief.of(runs)


def own_seconds(task: Task) -> float:
    """Return the device seconds of a task without those in which others had its processor.

    So what it costs does not depend on what else runs. Attempts that were suspended do not count.
    Where the system does not tell how long it waited, all of its seconds count.
    """
    used = _Used.of(task.result)
    last = task.cost - task.lost
    return min(last, max(last - used.waited, used.processor))


def classes_of(version: DatasetVersion) -> int:
    """Return how many classes the target of a declared version has; 0 for a number."""
    return len(version.target_classes)


def size(version: DatasetVersion) -> tuple[int, int]:
    """Return the rows that are learned from to judge a model, and the ``width`` of its inputs.

    By folds, and for each of several labels, a row is learned from several times: it costs as much.
    """
    target = version.target or {}
    labels = len(target.get("content", {}).get("labels", ())) if target.get("type") == LABELS else 1
    rows = (version.summary.rows or 0) * version.summary.fits
    return rows * labels, width(version.columns)


def width(columns: Sequence[Mapping[str, Any]]) -> int:
    """Return about how many numbers a model learns from in a row.

    One for each plain input column, more for a picture and the like.
    """
    inputs = [column for column in columns if column["role"] == "input"]
    return max(1, sum(map(_numbers, inputs)))


def _numbers(column: Mapping[str, Any]) -> int:
    content = column.get("content")
    if not content or "labels" in content:
        return 1
    sizes = [size for size in content.get("dim", ()) if isinstance(size, int)]
    if not sizes:
        return _SOME_NUMBERS
    return min(_MOST_NUMBERS, prod(sizes))


def _by_id(rows, ids: Sequence[str]) -> dict:
    """Return the rows with these ids, which are asked for some at a time."""
    wanted = list(set(ids))
    found = {}
    for start in range(0, len(wanted), _IDS_AT_ONCE):
        some = wanted[start : start + _IDS_AT_ONCE]
        found |= rows.by_id(id=some)
    return found
