"""Models that are what serves, fitted once more to recent rows of production without labels.

They are for rows like those, and not for the validation rows, which are older. So they never stand
above another model by their quality there: only a test on production lets one serve.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from easeml.contract.states import AdaptWay
from easeml.contract.tasks import TaskResult, WeightedPipeline
from easeml.errors import Conflict
from easeml.modules import Registry
from easeml.service.models import kept_models, refitting
from easeml.service.tasks import requests
from easeml.store import Tables, Transaction
from easeml.store.records import Application, Task, TrainedModel
from easeml.store.shapes import Shape

KIND = "adapt"
_BELOW_ALL = -2.0  # the least quality that there is is -1


@dataclass(frozen=True, slots=True)
class Asked(Shape):
    """What a task is told: how to adapt which model."""

    way: str
    name: str
    base_id: str


@dataclass(frozen=True, slots=True)
class Found(Shape):
    """What a task found: whether the way fits the data, in words."""

    applies: bool = False
    says: str = ""


def request(
    tx: Transaction, registry: Registry, application: Application, way: AdaptWay, source: str
) -> Task:
    """Have what serves fitted to the recent rows in the artefact ``source``.

    Raises ``Conflict`` for a model that was trained elsewhere.
    """
    tables = tx.scoped(application.tenant_id)
    base, members = _to_fit(tables, registry, tables.models.get(application.live_model_id))
    job = tables.jobs.get(base.job_id)
    version = tables.versions.get(job.version_id)
    before = requests.of_kind(tables, KIND, subject=application.id)
    number = 1 + sum(Asked.from_json(task.payload).way == way for task in before)
    return requests.request(
        tx,
        application.tenant_id,
        KIND,
        application.id,
        job_id=job.id,
        way=way,
        name=f"adapted-{way}-{number}",
        members=members,
        temperature=refitting.temperature_of(tables, base),
        thresholds=refitting.thresholds_of(tables, base),
        base_id=base.id,
        source=source,
        whole=bool(base.refitted),
        objective=application.objective,
        schema_in=version.schema_in,
        schema_out=version.schema_out,
        measures=application.rules.measures,
        seed=version.operation.seed,
    )


def _to_fit(
    tables: Tables, registry: Registry, model: TrainedModel
) -> tuple[TrainedModel, list[WeightedPipeline]]:
    """Return the model of a search that is fitted again: what serves, or what that was made of."""
    task = tables.tasks.get(model.task_id)
    if task.spec_kind == KIND:
        return _to_fit(tables, registry, tables.models.get(Asked.from_json(task.payload).base_id))
    members = refitting.members(tables, registry, model)
    if members and model.artefact:
        return model, members
    raise Conflict(
        f"{model.name} cannot be fitted again: it was trained elsewhere, or its files are removed.",
        where=model.id,
        remedy="Let a model of the search serve, and adapt that.",
    )


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Keep an adapted model as a trained model, if the way fits the data."""
    if not Found.from_json(result.value).applies:
        return
    name = Asked.from_json(task.payload).name
    kept_models.keep(tx, task, result, digests, name, compared_by=_BELOW_ALL)
