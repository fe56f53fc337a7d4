"""The models of a search that together predict best are one more model of it.

Their weights are chosen on validation rows, and their quality is that on validation rows which did
not choose: see the kind of task ``ensemble``. The quality of the best single model is flattered,
being the best of many. So an ensemble stands above it by what it gained over the choice of a single
model on rows that chose neither; without a gain it is not kept.

What is put together is promoted, rescored and fitted again as any other model. It holds copies of
its members, so it needs none of them.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from easeml.contract.states import JobState
from easeml.contract.tasks import TaskResult
from easeml.service.knowledge import knowledge_base
from easeml.service.search import model_limits
from easeml.service.tasks import requests
from easeml.service.tasks.measured import Measured
from easeml.store import Tables, Transaction
from easeml.store.records import Job, Task, TrainedModel
from easeml.store.shapes import Shape

from . import kept_models

KIND = "ensemble"
_MOST = 16  # models that may be members
_OF_ONE_MODULE = 3  # of the first among them: models that differ help each other
_LEAST = 2
_WHILE_RUNNING = 8  # models from which a search that goes on has an ensemble, too


@dataclass(frozen=True, slots=True)
class MayJoin(Shape):
    """A model that may be a member."""

    model_id: str


@dataclass(frozen=True, slots=True)
class Asked(Shape):
    """What a task is told: which models there are to choose from, and how many were trained."""

    name: str
    trained: int
    models: list[MayJoin]


def request(tx: Transaction, job: Job) -> Task | None:
    """Have the best models of ``job`` put together, where there are new ones since the last time.

    While a search runs that is done when the models have doubled. None where it is not the time.
    """
    if job.state not in (JobState.RESTING, JobState.RUNNING):
        return None
    tables = tx.scoped(job.tenant_id)
    asked = _asked(tables, job)
    due = _due_from(job, asked)
    there = tables.models.count(job_id=job.id, error="")
    if there < due:
        return None  # most looks end here: they read no models
    application = tables.applications.get(job.application_id)
    if application.pinned:
        return None
    models = tables.models.list(job_id=job.id, error="", limit=None)
    single = [model for model in models if model.candidate_id]
    single = model_limits.keeping(tables, application, single)
    if len(single) < due or is_under_way(tables, job):
        return None
    if knowledge_base.objective_source(tx, application.objective):
        return None  # choosing weights asks for the measure a thousand times: too slow of a program
    version = tables.versions.get(job.version_id)
    return requests.request(
        tx,
        job.tenant_id,
        KIND,
        job.id,
        job_id=job.id,
        models=_members(tables, single),
        trained=len(single),
        name=f"ensemble-{len(asked) + 1}",
        objective=application.objective,
        schema_in=version.schema_in,
        schema_out=version.schema_out,
        latency=application.rules.latency,
        size=application.rules.size,
        monotonic=application.rules.monotonic,
        measures=application.rules.measures,
        seed=version.operation.seed,
    )


def _due_from(job: Job, asked: list[Task]) -> int:
    """Return from how many models on the next ensemble is due, after those that were asked for."""
    before = max((Asked.from_json(task.payload).trained for task in asked), default=0)
    if job.state == JobState.RESTING:
        return max(_LEAST, before + 1)
    return max(_WHILE_RUNNING, 2 * before)


def is_under_way(tables: Tables, job: Job) -> bool:
    """Tell whether models of ``job`` are being put together."""
    return bool(requests.under_way(tables, KIND, job.id))


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Keep the ensemble as a trained model, if it is one and has gained anything."""
    measured = Measured.from_json(result.value)
    if len(measured.members) == 1 or measured.gain <= 0:
        return
    tables = tx.scoped(task.tenant_id)
    asked = Asked.from_json(task.payload)
    singles = tables.models.list(id=[one.model_id for one in asked.models], limit=None)
    quality = max(model.quality for model in singles) + measured.gain
    kept_models.keep(tx, task, result, digests, asked.name, compared_by=quality)


def _asked(tables: Tables, job: Job) -> list[Task]:
    return requests.of_kind(tables, KIND, subject=job.id)


def _members(tables: Tables, models: list[TrainedModel]) -> list[dict[str, object]]:
    """Return the models that may be members, with what a task is told of each."""
    chosen = _best_of_each_module(tables, models)[:_MOST]
    results = dict(tables.tasks.pick("id", "result", id=[model.task_id for model in chosen]))
    sizes = dict(tables.artefacts.pick("digest", "size", digest=[one.artefact for one in chosen]))
    members: list[dict[str, object]] = []
    for model in chosen:
        member = {
            "model_id": model.id,
            "name": model.name,
            "latency": Measured.from_json(results[model.task_id]).latency or 0.0,
            "size": sizes.get(model.artefact, 0),
        }
        members.append(member)
    return members


def _best_of_each_module(tables: Tables, models: list[TrainedModel]) -> list[TrainedModel]:
    """Return models in the order in which they may join: first the best few of each module."""
    modules = dict(tables.candidates.pick("id", "model", id=[one.candidate_id for one in models]))
    ranked = sorted(models, key=lambda model: -model.quality)
    taken: Counter[str] = Counter()
    comes_later: dict[str, bool] = {}
    for model in ranked:
        module = modules[model.candidate_id]
        taken[module] += 1
        comes_later[model.id] = taken[module] > _OF_ONE_MODULE
    return sorted(ranked, key=lambda model: comes_later[model.id])
