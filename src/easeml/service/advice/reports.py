"""Reports: what short tasks found out about models and versions."""

from easeml.ids import new_id
from easeml.store import Transaction
from easeml.store.records import Json, Report, Task


def keep(
    tx: Transaction, task: Task, subject: str, version_id: str, value: Json, kind: str = ""
) -> Report:
    """Keep what ``task`` found out as a report about ``subject``, and say so.

    ``kind``: of the report, by default what the kind of task is called.
    """
    kind = kind or task.spec_kind
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
