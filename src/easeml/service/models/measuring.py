"""What is trained already is measured by more, by the predictions that were kept.

That is by a new objective of the knowledge base, or by what an owner asks of an application.
"""

from dataclasses import dataclass, field

from easeml.modules import Module, Registry
from easeml.schema import Schema
from easeml.service.search import jobs
from easeml.service.tasks import requests
from easeml.service.tasks.measured import Measured
from easeml.store import Tables, Transaction
from easeml.store.records import Application, DatasetVersion, Job, Json, Task, TrainedModel
from easeml.store.shapes import Shape, given

KIND = "measure"
_MOST_MODELS = 50  # of an application, the newest


@dataclass(frozen=True, slots=True)
class Told(Shape):
    """What a task is told to measure beside what fits."""

    measures: list[str] = field(default_factory=list)


def request(tx: Transaction, registry: Registry, objective: Module) -> None:
    """Have the models of every application that an added objective fits measured by it.

    Those of a tenant alone where the objective is private to it.
    """
    owner = registry.private.get(objective.name)
    for application in tx.unscoped().applications.list(limit=None, **given(tenant_id=owner)):
        _request(tx, application, objective)


def _request(tx: Transaction, application: Application, objective: Module) -> None:
    """Have the newest models of an application measured by an objective, if it fits."""
    tables = tx.scoped(application.tenant_id)
    job = jobs.current(tables, application.id)
    if job is None:
        return
    version = tables.versions.get(application.version_id)
    if not _fits(objective, version):
        return
    models = _newest_models(tables, job)
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


def _fits(objective: Module, version: DatasetVersion) -> bool:
    """Tell whether an objective measures what is predicted from a version of data."""
    assert objective.schema_in is not None  # parse() has checked it
    if not version.schema_out:
        return False
    return not objective.schema_in.why_not(Schema.from_json(version.schema_out))


def _newest_models(tables: Tables, job: Job) -> list[TrainedModel]:
    return tables.models.list(job_id=job.id, error="", newest_first=True, limit=_MOST_MODELS)


def ask(tx: Transaction, application: Application, names: list[str]) -> Task | None:
    """Have the newest models of an application measured by what they were not measured by yet.

    ``names``: as of ``easeml.modules.further_measures``. None where nothing is left to measure.
    """
    tables = tx.scoped(application.tenant_id)
    job = jobs.current(tables, application.id)
    if job is None or not names:
        return None
    models = _newest_models(tables, job)
    results = dict(tables.tasks.pick("id", "result", id=[model.task_id for model in models]))
    lacking: dict[str, set[str]] = {}
    for model in models:
        by_training = Measured.from_json(results[model.task_id]).measures
        unknown = set(names).difference(by_training, model.measures)
        if unknown:
            lacking[model.id] = unknown
    if not lacking:
        return None
    return requests.request(
        tx,
        application.tenant_id,
        KIND,
        application.id,
        job_id=job.id,
        objective=application.objective,
        models=list(lacking),
        measures=sorted(set().union(*lacking.values())),
    )


def catch_up(tx: Transaction, task: Task) -> None:
    """Have a model measured that a task made, where more was asked after the task was written."""
    tables = tx.scoped(task.tenant_id)
    job = tables.jobs.get(task.job_id)
    application = tables.applications.get(job.application_id)
    wanted = application.rules.measures
    told = Told.from_json(task.payload).measures
    is_lacking = not set(wanted).issubset(told)
    if is_lacking and not requests.under_way(tables, KIND, application.id):
        ask(tx, application, wanted)


def record(
    tx: Transaction, task: Task, qualities: dict[str, float], measures: dict[str, Json]
) -> None:
    """Keep the quality of each model, and what else was measured of it, by its id."""
    tables = tx.scoped(task.tenant_id)
    for model_id, quality in qualities.items():
        model = tables.models.get(model_id)
        tables.models.update(model_id, metrics={**model.metrics, task.objective: quality})
    for model_id, found in measures.items():
        model = tables.models.get(model_id)
        tables.models.update(model_id, measures={**model.measures, **found})
    if measures:
        catch_up(tx, task)
