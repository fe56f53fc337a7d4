"""What is shown of the searches of several jobs, read together: three statements for any number."""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import chain
from typing import Any

from easeml.contract.states import TASKS_UNDER_WAY, TaskGroup, TaskState
from easeml.store import Tables, grouped


@dataclass(frozen=True, slots=True)
class TrainingTask:
    """A training task without its payload and result. Times in seconds of the epoch."""

    id: str
    job_id: str
    candidate_id: str
    state: TaskState
    quality: float | None
    measure: dict[str, Any]
    cost: float
    created: float
    finished: float | None
    started: float | None = None
    attempts: int = 1

    @property
    def is_kept(self) -> bool:
        """Whether it is a result of the search before, for which nothing ran."""
        return self.state == TaskState.DONE and self.attempts == 0


_COLUMNS = tuple(field.name for field in fields(TrainingTask))


@dataclass(frozen=True, slots=True)
class Result:
    """A training task that is done. ``spent``: device seconds of the job until it had ended."""

    task: TrainingTask
    quality: float
    spent: float
    is_better: bool  # than all before it


@dataclass(frozen=True, slots=True)
class Summary:
    """The search of one job: its tasks in order of id, what they found, and its candidates."""

    tasks: Sequence[TrainingTask]
    results: Sequence[Result]
    candidates: int
    names: dict[str, str]  # by candidate, of tasks under way and of improvements

    def in_state(self, state: TaskState) -> list[TrainingTask]:
        """Return the tasks in one state."""
        return [task for task in self.tasks if task.state == state]

    def names_in_state(self, state: TaskState) -> list[str]:
        """Return what is called the tasks in one state, ``waiting`` or ``running``."""
        return [self.names[task.candidate_id] for task in self.in_state(state)]


def load(tables: Tables, job_ids: Sequence[str]) -> dict[str, Summary]:
    """Return the summary of each job, by its id."""
    tasks = grouped(training_tasks(tables, job_ids), lambda task: task.job_id)
    found = {job_id: results(tasks[job_id]) for job_id in job_ids}
    shown = _shown_candidates(chain(*tasks.values()), chain(*found.values()))
    names = candidate_names(tables, shown)
    counts = tables.candidates.count_by("job_id", job_id=list(job_ids))
    summaries = {}
    for job_id in job_ids:
        summaries[job_id] = Summary(tasks[job_id], found[job_id], counts[job_id], names)
    return summaries


def training_tasks(tables: Tables, job_ids: Sequence[str]) -> list[TrainingTask]:
    """Return the training tasks of some jobs, in order of id."""
    rows = tables.tasks.pick(*_COLUMNS, job_id=list(job_ids), kind=TaskGroup.TRAIN)
    return [TrainingTask(*row) for row in rows]


def results(tasks: Iterable[TrainingTask]) -> list[Result]:
    """Return the results of one job's tasks in the order in which these ended."""
    done = [task for task in tasks if task.state == TaskState.DONE]
    spent = 0.0
    best = -math.inf
    ordered: list[Result] = []
    for task in sorted(done, key=lambda task: (task.finished or 0.0, task.id)):
        spent += task.cost
        quality = -math.inf if task.quality is None else task.quality
        ordered.append(Result(task, quality, spent, quality > best))
        best = max(best, quality)
    return ordered


def candidate_names(tables: Tables, ids: Collection[str]) -> dict[str, str]:
    """Return what candidates are called, by id."""
    return dict(tables.candidates.pick("id", "name", id=list(ids)))


def _shown_candidates(tasks: Iterable[TrainingTask], found: Iterable[Result]) -> set[str]:
    under_way = {task.candidate_id for task in tasks if task.state in TASKS_UNDER_WAY}
    improvements = {result.task.candidate_id for result in found if result.is_better}
    return under_way | improvements
