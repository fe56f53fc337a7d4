"""Which columns a model needs: measured, once, for models that go live."""

from easeml.service.advice import tools
from easeml.store import Transaction
from easeml.store.records import Task, TrainedModel

TOOL = "importance"
_SHARE = 0.2  # of the device time of the training
_LEAST_SECONDS, _MOST_SECONDS = 1.0, 5.0


def request(tx: Transaction, model: TrainedModel) -> Task | None:
    """Write the task that measures a model; None if it was measured."""
    tables = tx.scoped(model.tenant_id)
    measured = tools.about_model(tables, model)
    if any(report.kind == TOOL for report in measured):
        return None
    cost = tables.tasks.get(model.task_id).cost
    seconds = min(max(_SHARE * cost, _LEAST_SECONDS), _MOST_SECONDS)
    version = tables.versions.get(tables.jobs.get(model.job_id).version_id)
    application = tables.applications.get(model.application_id)
    question = tools.Question(TOOL, {}, model, seconds)
    return tools.request(tx, application, version, question)
