"""Which columns a model needs: measured, once, for models that go live.

While a search runs, what is live may be replaced within seconds. So models are measured while that
takes little beside the search; what serves in the end always is.
"""

import math
from operator import attrgetter

from easeml.service.advice import tools
from easeml.service.advice.beside_search import has_time
from easeml.service.tasks.measured import Measured
from easeml.store import Tables, Transaction
from easeml.store.records import Task, TrainedModel

TOOL = "importance"
_SHARE = 0.2  # of the device time of the training
_LEAST_SECONDS, _MOST_SECONDS = 0.5, 5.0
_COST = attrgetter("cost")
_WITH_OVERHEAD = 1.0  # seconds that a model of a small table takes, with what else a task takes


def request(tx: Transaction, model: TrainedModel) -> Task | None:
    """Write the task that measures a model; None if it was measured, or is soon replaced."""
    tables = tx.scoped(model.tenant_id)
    measured = tools.about_model(tables, model)
    if any(report.kind == TOOL for report in measured):
        return None
    job = tables.jobs.get(model.job_id)
    if not has_time(job, _asked(tables, job.version_id), _WITH_OVERHEAD):
        return None
    seconds = min(max(_SHARE * _cost(tables, model), _LEAST_SECONDS), _MOST_SECONDS)
    version = tables.versions.get(job.version_id)
    if sum(column["role"] == "input" for column in version.columns) < 2:
        return None  # a model of one column looks at that
    application = tables.applications.get(model.application_id)
    if application.rules.forecast:
        return None  # times that are shuffled make other series
    question = tools.Question(TOOL, {}, model, seconds)
    return tools.request(tx, application, version, question)


def _cost(tables: Tables, model: TrainedModel) -> float:
    """Return the device seconds that a model took, those of an ensemble with its members'.

    Putting an ensemble together is quick, and yet it predicts as slowly as all its members.
    """
    task = tables.tasks.get(model.task_id)
    ids = [member.model_id for member in Measured.from_json(task.result).members]
    members = tables.models.list(id=ids, limit=None)
    tasks = tables.tasks.list(id=[member.task_id for member in members], limit=None)
    return task.cost + math.fsum(map(_COST, tasks))


def _asked(tables: Tables, version_id: str) -> list[Task]:
    """Return the tasks that weighed columns of models of a version."""
    tasks = tables.tasks.list(subject=version_id, limit=None)
    return [task for task in tasks if tools.asks(task, TOOL)]
