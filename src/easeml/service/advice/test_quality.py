"""The ledger: the only way from test rows to a number that people see.

Every reading is recorded.
"""

from collections import Counter

from easeml.contract import resources
from easeml.contract.tasks import TaskResult
from easeml.service.advice import reports
from easeml.service.tasks import requests
from easeml.store import Tables, Transaction
from easeml.store.records import Application, Report, Task, TrainedModel

KIND = "test-quality"


def request_test_quality(tx: Transaction, model: TrainedModel) -> Task | None:
    """Write the task that reads the test quality of ``model``; None if it was read or is being
    read.
    """
    tables = tx.scoped(model.tenant_id)
    if _find(tables, model.application_id, model.id) or requests.under_way(tables, KIND, model.id):
        return None
    application = tables.applications.get(model.application_id)
    version = tables.versions.get(tables.jobs.get(model.job_id).version_id)
    return requests.request(
        tx,
        model.tenant_id,
        KIND,
        model.id,
        objective=application.objective,
        schema_out=version.schema_out,
    )


def record(tx: Transaction, task: Task, result: TaskResult) -> Report:
    """Keep the reading that ``task`` brought, and say so.

    ``result.value``: value, low, high, rows, and measure (see the kind).
    """
    tables = tx.scoped(task.tenant_id)
    model = tables.models.get(task.subject)
    version_id = tables.jobs.get(model.job_id).version_id
    numbers = {name: result.value[name] for name in ("value", "low", "high", "rows")}
    numbers["measure"] = result.value.get("measure")
    return reports.keep(
        tx, task, model.application_id, version_id, {**numbers, "model_id": model.id}
    )


def readings(tables: Tables, applications: list[Application]) -> dict[str, resources.TestQuality]:
    """Return the test quality of live models with its interval and how often their test rows were
    read, by application; those whose live model was not read are missing.
    """
    by_id = {application.id: application for application in applications}
    found = tables.reports.list(kind=KIND, subject=list(by_id), limit=None)
    times = Counter(report.subject for report in found)  # newer versions keep the test rows
    return {
        report.subject: resources.TestQuality(**report.value, readings=times[report.subject])
        for report in found  # in order of id: the newest counts
        if report.value["model_id"] == by_id[report.subject].live_model_id
    }


def _find(tables: Tables, application_id: str, model_id: str) -> Report | None:
    reports = tables.reports.list(kind=KIND, subject=application_id, limit=None, newest_first=True)
    return next((report for report in reports if report.value["model_id"] == model_id), None)
