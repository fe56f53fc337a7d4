"""Asking for work: a task is written, and whoever follows events knows."""

from dataclasses import asdict, replace
from typing import Any

import structlog

from easeml.contract.states import TASKS_UNDER_WAY, Lane, TaskGroup
from easeml.ids import new_id, request_id
from easeml.service.knowledge import gpus, knowledge_base
from easeml.service.tasks import needs
from easeml.service.tasks.kinds import called, kind_named
from easeml.store import Tables, Transaction, id_of
from easeml.store.records import Candidate, Json, Task

_log = structlog.get_logger("easeml.tasks")

_CANCELLED = "The task was cancelled."
_ATTEMPTS = 2  # of a task whose attempts fail in ways worth another


def request(
    tx: Transaction,
    tenant_id: str,
    kind: str,
    subject: str,
    *,
    job_id: str = "",
    candidate: Candidate | None = None,
    max_attempts: int = _ATTEMPTS,
    urgent: bool = False,
    **spec: Any,
) -> Task:
    """Write a task of ``kind`` about ``subject``, told what ``spec`` says: the fields of its spec.

    ``job_id``: the scheduler looks at that job when the task ends. Raises ``InvalidInput`` for a
    kind that there is not, and ``ValidationError`` for a spec that is not the kind's.
    """
    declared = kind_named(kind)
    if spec.get("objective"):
        spec["objective_source"] = knowledge_base.objective_source(tx, spec["objective"])
    if spec.get("measures"):
        spec["measure_sources"] = knowledge_base.sources_of(tx, spec["measures"])
    payload = declared.spec.model_validate({"kind": kind, **spec}).to_json()
    gpu = gpus.asked(tx, payload)
    wanted = Task(
        id=new_id("task"),
        tenant_id=tenant_id,
        kind=TaskGroup(declared.group),
        lane=Lane(declared.lane),
        payload=payload,
        subject=subject,
        job_id=job_id,
        candidate_id=id_of(candidate),
        max_attempts=max_attempts,
        urgent=urgent,
        request=request_id(),
        gpu=gpu.needed,
        gpu_memory=gpu.memory,
    )
    task = tx.scoped(tenant_id).tasks.add(replace(wanted, **asdict(needs.asked(tx, wanted))))
    name = candidate.name if candidate else called(payload)
    tx.events.append("task.waiting", task.id, {"job_id": job_id, "name": name}, tenant_id)
    if task.request:  # a proxy may have named the request: this line has its name and ours
        _log.info("task asked for", task=task.id, kind=kind)
    return task


def request_once(tx: Transaction, tenant_id: str, kind: str, subject: str, told: Json) -> Task:
    """Write a task that is told this, or return the one under way: two clicks ask once."""
    for task in under_way(tx.scoped(tenant_id), kind, subject):
        if told.items() <= task.payload.items():
            return task
    return request(tx, tenant_id, kind, subject, **told)


def under_way(tables: Tables, kind: str, subject: str) -> list[Task]:
    """Return the tasks of ``kind`` about ``subject`` that wait or run."""
    return of_kind(tables, kind, subject=subject, state=TASKS_UNDER_WAY)


def cancel(tx: Transaction, tables: Tables, reason: str = _CANCELLED, **equals: Any) -> None:
    """Cancel all tasks with these values that wait or run."""
    for id in tables.tasks.column("id", **{"state": TASKS_UNDER_WAY, **equals}):
        tx.queue.cancel(id, reason)


def of_kind(tables: Tables, kind: str, **equals: Any) -> list[Task]:
    """Return all tasks of ``kind`` with these values, in order of id."""
    tasks = tables.tasks.list(kind=kind_named(kind).group, limit=None, **equals)
    return [task for task in tasks if task.spec_kind == kind]
