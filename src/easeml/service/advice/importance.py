"""Which columns a model needs: measured, once, for models that go live.

While a search runs, what is live may be replaced within seconds. So the first model is measured, and
later ones while that takes little beside the search; what serves in the end always is.
"""

from easeml.contract.states import TASKS_UNDER_WAY, JobState
from easeml.service.advice import tools
from easeml.store import Tables, Transaction
from easeml.store.records import Job, Task, TrainedModel

TOOL = "importance"
_SHARE_OF_SEARCH = 0.05  # of its device time, while it runs
_SHARE = 0.2  # of the device time of the training
_LEAST_SECONDS, _MOST_SECONDS = 1.0, 5.0


def request(tx: Transaction, model: TrainedModel) -> Task | None:
    """Write the task that measures a model; None if it was measured, or is soon replaced."""
    tables = tx.scoped(model.tenant_id)
    measured = tools.about_model(tables, model)
    if any(report.kind == TOOL for report in measured):
        return None
    if _is_enough_for_now(tables, tables.jobs.get(model.job_id)):
        return None
    cost = tables.tasks.get(model.task_id).cost
    seconds = min(max(_SHARE * cost, _LEAST_SECONDS), _MOST_SECONDS)
    version = tables.versions.get(tables.jobs.get(model.job_id).version_id)
    application = tables.applications.get(model.application_id)
    question = tools.Question(TOOL, {}, model, seconds)
    return tools.request(tx, application, version, question)


def request_at_the_end(tx: Transaction, job: Job) -> Task | None:
    """Write the task that measures what serves, if that is of ``job`` and it rests or has ended."""
    if job.state == JobState.RUNNING:
        return None
    tables = tx.scoped(job.tenant_id)
    live_model_id = tables.applications.get(job.application_id).live_model_id
    if not live_model_id:
        return None
    model = tables.models.get(live_model_id)
    return request(tx, model) if model.job_id == job.id else None


def _is_enough_for_now(tables: Tables, job: Job) -> bool:
    """Whether a search that runs has had its share of measuring."""
    if job.state != JobState.RUNNING:
        return False
    asked = [
        task
        for task in tables.tasks.list(subject=job.version_id, limit=None)
        if task.spec_kind == tools.KIND and tools.Told.from_json(task.payload).tool == TOOL
    ]
    if any(task.state in TASKS_UNDER_WAY for task in asked):
        return True
    spent = sum(task.cost for task in asked)
    return spent > _SHARE_OF_SEARCH * job.cost
