"""Runs of searches that have ended, as another program shows them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from easeml.contract import measures
from easeml.contract.states import TaskGroup, TaskState
from easeml.store import Store, Transaction, id_of
from easeml.store.records import Event, Task

_ENDED = ("task.done", "task.failed")


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A training task that has ended. Moments in seconds of the epoch.

    ``experiment``: the application that it was for, and its tenant; ``seq``: of the event of its end.
    """

    seq: int
    experiment: str
    application_id: str
    task_id: str
    name: str
    is_done: bool
    started: float
    finished: float
    params: Mapping[str, Any]
    metrics: Mapping[str, float]
    tags: Mapping[str, str]


def newest(store: Store) -> int:
    """Return the number of the newest event."""
    with store.read() as tx:
        return tx.events.last()


def ended_after(store: Store, seq: int) -> tuple[list[FinishedRun], int]:
    """Return the runs that ended after event ``seq``, oldest first, and the event looked at last."""
    with store.read() as tx:
        events = tx.events.after(seq)
        if not events:
            return [], seq
        ended = [event for event in events if event.kind in _ENDED and event.job_id]
        trained = _training_tasks(tx, ended)
        of_tasks = [event for event in ended if event.subject in trained]
        found = [_run(tx, event, trained[event.subject]) for event in of_tasks]
        return found, events[-1].seq


def _training_tasks(tx: Transaction, ended: list[Event]) -> dict[str, Task]:
    """Return the tasks that trained a candidate and ended, by id."""
    subjects = [event.subject for event in ended]
    tasks = tx.unscoped().tasks.by_id(id=subjects, kind=TaskGroup.TRAIN)
    return {id: task for id, task in tasks.items() if task.candidate_id}


def _run(tx: Transaction, event: Event, task: Task) -> FinishedRun:
    tables = tx.scoped(task.tenant_id)
    job = tables.jobs.get(task.job_id)
    application = tables.applications.get(job.application_id)
    candidate = tables.candidates.get(task.candidate_id)
    tenant = tx.tenants.get(task.tenant_id)
    model = tables.models.find(task_id=task.id)
    finished = task.finished or task.created
    metrics = {"device_seconds": task.cost}
    if task.quality is not None:
        metrics["quality"] = task.quality
    measure = measures.kept(task.measure)
    if measure is not None:
        metrics[f"validation_{task.objective.partition('(')[0]}"] = measure.value
    tags = {
        "easeml.tenant": tenant.name,
        "easeml.application_id": application.id,
        "easeml.job_id": job.id,
        "easeml.model_id": id_of(model),
        "easeml.objective": task.objective,
    }
    if task.error:
        tags["easeml.error"] = task.error[:1000]
    return FinishedRun(
        seq=event.seq,
        experiment=f"easeml/{tenant.name}/{application.name} ({application.id})",
        application_id=application.id,
        task_id=task.id,
        name=candidate.name,
        is_done=task.state == TaskState.DONE,
        started=task.started or task.created,
        finished=finished,
        params={"model": candidate.model, **candidate.pipeline.model.config},
        metrics=metrics,
        tags=tags,
    )
