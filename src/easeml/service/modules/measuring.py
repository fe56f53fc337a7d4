"""A new objective measures what is trained already, by the predictions that were kept."""

from easeml.modules import Module, Registry
from easeml.schema import Schema
from easeml.service.search import jobs
from easeml.service.tasks import requests
from easeml.store import Transaction
from easeml.store.records import Task

KIND = "measure"
_MOST_MODELS = 50  # of an application, the newest


def request(tx: Transaction, registry: Registry, objective: Module) -> None:
    """Have the models of every application that an added objective fits measured by it.

    Those of a tenant alone where the objective is private to it.
    """
    assert objective.schema_in is not None  # parse() has checked it
    owner = registry.private.get(objective.name)
    for application in tx.unscoped().applications.list(limit=None):
        if owner not in (None, application.tenant_id):
            continue
        tables = tx.scoped(application.tenant_id)
        job = jobs.current(tables, application.id)
        version = tables.versions.get(application.version_id)
        if job is None or not version.schema_out:
            continue
        if objective.schema_in.why_not(Schema.from_json(version.schema_out)):
            continue
        models = tables.models.list(job_id=job.id, error="", newest_first=True, limit=_MOST_MODELS)
        if models:
            requests.request(
                tx,
                application.tenant_id,
                KIND,
                application.id,
                job_id=job.id,
                objective=objective.name,
                models=[model.id for model in models],
            )


def record(tx: Transaction, task: Task, qualities: dict[str, float]) -> None:
    """Keep the quality of each model, by its id."""
    tables = tx.scoped(task.tenant_id)
    for model_id, quality in qualities.items():
        model = tables.models.get(model_id)
        tables.models.update(model_id, metrics={**model.metrics, task.objective: quality})
