"""Which columns a model needs: measured, once, for models that go live."""

from easeml.contract.evaluation import Importances
from easeml.contract.tasks import TaskResult
from easeml.service.advice import reports
from easeml.service.tasks import requests
from easeml.store import Tables, Transaction
from easeml.store.records import Report, Task, TrainedModel

KIND = "importance"
_SHARE = 0.2  # of the device time of the training
_LEAST_SECONDS, _MOST_SECONDS = 1.0, 5.0


def request(tx: Transaction, model: TrainedModel) -> Task | None:
    """Write the task that measures a model; None if it was measured or is being measured."""
    tables = tx.scoped(model.tenant_id)
    if find(tables, model.task_id) or requests.under_way(tables, KIND, model.task_id):
        return None
    objective = tables.applications.get(model.application_id).objective
    cost = tables.tasks.get(model.task_id).cost
    seconds = min(max(_SHARE * cost, _LEAST_SECONDS), _MOST_SECONDS)
    return requests.request(
        tx, model.tenant_id, KIND, model.task_id, objective=objective, seconds=seconds
    )


def record(tx: Transaction, task: Task, result: TaskResult) -> Report:
    """Keep what ``task`` measured, and say so."""
    tables = tx.scoped(task.tenant_id)
    model = tables.models.find(task_id=task.subject)
    version_id = tables.jobs.get(model.job_id).version_id if model else ""
    found = Importances.model_validate(result.value["importance"])
    return reports.keep(tx, task, task.subject, version_id, found.model_dump())


def find(tables: Tables, task_id: str) -> Importances | None:
    """Return what was measured of the model that a task trained."""
    report = tables.reports.find(kind=KIND, subject=task_id)
    return Importances.model_validate(report.value) if report else None
