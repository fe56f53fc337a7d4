"""Asking for work: a task is written, and whoever follows events knows."""

from typing import Any

from easeml.contract.states import TASKS_UNDER_WAY, Lane, TaskGroup
from easeml.ids import new_id, request_id
from easeml.service.knowledge import knowledge_base
from easeml.service.tasks.kinds import called, kind_named
from easeml.store import Tables, Transaction
from easeml.store.records import Candidate, Task

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
    payload = declared.spec.model_validate({"kind": kind, **spec}).to_json()
    task = tx.scoped(tenant_id).tasks.add(
        Task(
            id=new_id("task"),
            tenant_id=tenant_id,
            kind=TaskGroup(declared.group),
            lane=Lane(declared.lane),
            payload=payload,
            subject=subject,
            job_id=job_id,
            candidate_id=candidate.id if candidate else "",
            max_attempts=max_attempts,
            urgent=urgent,
            request=request_id(),
        )
    )
    name = candidate.name if candidate else called(payload)
    tx.events.append("task.waiting", task.id, {"job_id": job_id, "name": name}, tenant_id)
    return task


def under_way(tables: Tables, kind: str, subject: str) -> list[Task]:
    """Return the tasks of ``kind`` about ``subject`` that wait or run."""
    group = kind_named(kind).group
    tasks = tables.tasks.list(kind=group, subject=subject, state=TASKS_UNDER_WAY, limit=None)
    return [task for task in tasks if task.spec_kind == kind]
