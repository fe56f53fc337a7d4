"""Advice: what a short task finds out about a model or a version, kept as a report."""

from easeml.contract.tasks import (
    CheckModuleSpec,
    ImportanceSpec,
    RescoreSpec,
    SuspicionSpec,
    TestQualitySpec,
)
from easeml.ids import new_id
from easeml.store import Tables, Transaction
from easeml.store.records import Json, Report, Task

Spec = CheckModuleSpec | ImportanceSpec | RescoreSpec | SuspicionSpec | TestQualitySpec


def ask(tx: Transaction, tenant_id: str, subject: str, spec: Spec, job_id: str = "") -> Task:
    """Write the task that finds out about ``subject``.

    A job's is looked at by the scheduler when it ends.
    """
    task = tx.scoped(tenant_id).tasks.add(
        Task(
            id=new_id("task"),
            tenant_id=tenant_id,
            kind="advise",
            lane="short",
            payload=spec.model_dump(),
            subject=subject,
            job_id=job_id,
        )
    )
    tx.events.append("task.waiting", task.id, {"job_id": job_id, "name": spec.kind}, tenant_id)
    return task


def under_way(tables: Tables, kind: str, subject: str) -> list[Task]:
    """Return the tasks that find out such advice about ``subject`` now, or will."""
    tasks = tables.tasks.list(
        kind="advise", subject=subject, state=["waiting", "running"], limit=None
    )
    return [task for task in tasks if task.payload["kind"] == kind]


def keep(tx: Transaction, task: Task, subject: str, version_id: str, value: Json) -> Report:
    """Keep what ``task`` found out as a report about ``subject``, and say so."""
    kind = task.payload["kind"]
    report = tx.scoped(task.tenant_id).reports.add(
        Report(
            id=new_id("rep"),
            tenant_id=task.tenant_id,
            kind=kind,
            subject=subject,
            version_id=version_id,
            value=value,
        )
    )
    tx.events.append(
        "report.ready", subject, {"report_id": report.id, "kind": kind}, task.tenant_id
    )
    return report
