"""The ledger: the only way from test rows to a number that people see.

Every reading is recorded.
"""

from collections import Counter
from dataclasses import dataclass, replace

from easeml.contract.applications import TestQuality
from easeml.contract.states import TaskState
from easeml.contract.tasks import TaskResult
from easeml.service.advice import reports
from easeml.service.advice.beside_search import has_time
from easeml.service.datasets.lines import line_of_rows
from easeml.service.tasks import requests
from easeml.store import Tables, Transaction
from easeml.store.records import Application, DatasetVersion, Report, Task, TrainedModel
from easeml.store.shapes import Json, Shape

KIND = "test-quality"
_ADAPTS = "adapt"  # the kind of task whose models are for newer rows
_MOST_FAILED = 3  # tasks about a model


@dataclass(frozen=True, slots=True)
class Asked(Shape):
    """What a task is told: whether it reads the model as fitted on all other rows.

    ``version_id``: of the version with the answers; empty: that which the model learned from.
    """

    refitted: bool = False
    version_id: str = ""


@dataclass(frozen=True, slots=True)
class Reading(Shape):
    """What a report says: quality on the test rows with its 95 % interval, and of which model.

    ``measure``: the same in the objective's own unit; readings of older versions have none.
    ``adapted``: the model is fitted to newer rows than the test rows. ``corrected``: how many answers
    of these people had corrected.
    """

    value: float
    low: float
    high: float
    rows: int
    model_id: str = ""
    refitted: bool = False  # whether the model had been fitted on all other rows
    measure: Json | None = None
    adapted: bool = False
    corrected: int = 0

    def is_by(self, objective: str) -> bool:
        """Tell whether it was read by this objective; where it does not say, there was no other."""
        told = (self.measure or {}).get("objective", "")
        return told in ("", objective)


def request_soon(tx: Transaction, model: TrainedModel) -> Task | None:
    """Write the task that reads the test quality of what ``model`` serves, unless it is soon replaced.

    While a search runs, a model is read only where that takes little beside the search: other
    tenants may still wait for their first one.
    """
    tables = tx.scoped(model.tenant_id)
    job = tables.jobs.get(model.job_id)
    if not has_time(job, requests.of_kind(tables, KIND, job_id=job.id)):
        return None
    return request_test_quality(tx, model)


def request_test_quality(tx: Transaction, model: TrainedModel) -> Task | None:
    """Write the task that reads the test quality of what ``model`` serves.

    Returns None if that was read or is being read, or could not be read again and again.
    """
    tables = tx.scoped(model.tenant_id)
    application = tables.applications.get(model.application_id)
    if _is_read(tables, application, model) or _is_being_read(tables, application, model):
        return None
    if _has_failed(tables, model):
        return None
    version = _version_to_read(tables, application, model)
    return requests.request(
        tx,
        model.tenant_id,
        KIND,
        model.id,
        job_id=model.job_id,
        objective=application.objective,
        schema_out=version.schema_out,
        refitted=bool(model.refitted),
        version_id=version.id,
    )


def _version_to_read(
    tables: Tables, application: Application, model: TrainedModel
) -> DatasetVersion:
    """Return the version that a model learned from; or that in use, where answers were corrected.

    The test rows of both are the same then.
    """
    versions = tables.versions.by_id(dataset_id=application.dataset_id)
    learned_from = versions[tables.jobs.get(model.job_id).version_id]
    now = versions[application.version_id]
    has_rows = now.summary.rows_of("test") == learned_from.summary.rows_of("test")
    is_after = learned_from.id in line_of_rows(now.id, versions)
    if has_rows and is_after:
        return now
    return learned_from


def _has_failed(tables: Tables, model: TrainedModel) -> bool:
    """Tell whether reading a model has failed so often that it is left.

    The end of each such task has the scheduler look at the search again, which would ask for the
    next one for ever.
    """
    failed = requests.of_kind(tables, KIND, subject=model.id, state=TaskState.FAILED)
    told = [Asked.from_json(task.payload).refitted for task in failed]
    return told.count(bool(model.refitted)) >= _MOST_FAILED


def record(tx: Transaction, task: Task, result: TaskResult) -> Report:
    """Keep the reading that ``task`` brought, and say so.

    ``result.value``: value, low, high, rows, and measure (see the kind).
    """
    tables = tx.scoped(task.tenant_id)
    model = tables.models.get(task.subject)
    asked = Asked.from_json(task.payload)
    version_id = asked.version_id or tables.jobs.get(model.job_id).version_id
    corrected = tables.versions.get(version_id).summary.corrected("test")
    adapted = tables.tasks.get(model.task_id).spec_kind == _ADAPTS
    reading = replace(
        Reading.from_json(result.value),
        model_id=model.id,
        refitted=asked.refitted,
        adapted=adapted,
        corrected=corrected,
    )
    return reports.keep(tx, task, model.application_id, version_id, reading.to_json())


def readings(tables: Tables, applications: list[Application]) -> dict[str, TestQuality]:
    """Return the test quality of live models, by application.

    Each has its interval and how often the test rows were read. Applications whose live model was
    not read are missing.
    """
    by_id = {application.id: application for application in applications}
    found = tables.reports.list(kind=KIND, subject=list(by_id), limit=None)
    times = Counter(report.subject for report in found)  # newer versions keep the test rows
    shown = {}
    for report in found:  # in order of id: the newest counts
        application_id, reading = report.subject, Reading.from_json(report.value)
        application = by_id[application_id]
        is_of_live = reading.model_id == application.live_model_id
        if is_of_live and reading.is_by(application.objective):
            readings = times[application_id]
            shown[application_id] = TestQuality(**reading.to_json(), readings=readings)
    return shown


def _is_read(tables: Tables, application: Application, model: TrainedModel) -> bool:
    """Was what the model serves read before, by the application's objective and these answers?"""
    corrected = _version_to_read(tables, application, model).summary.corrected("test")
    found = tables.reports.column("value", kind=KIND, subject=application.id)
    for reading in map(Reading.from_json, found):
        is_of_model = (reading.model_id, reading.refitted) == (model.id, bool(model.refitted))
        has_answers = reading.corrected == corrected
        if is_of_model and has_answers and reading.is_by(application.objective):
            return True
    return False


def _is_being_read(tables: Tables, application: Application, model: TrainedModel) -> bool:
    tasks = requests.under_way(tables, KIND, model.id)
    asked = [(Asked.from_json(task.payload).refitted, task.objective) for task in tasks]
    return (bool(model.refitted), application.objective) in asked
