"""What serves in the end has learned from all rows but the test rows.

A search fits on the train rows and compares on the validation rows. When it rests, its best model
is fitted once more on both, with the configuration that was found, and that is what serves. Its
quality on validation rows stays the one measured before: it has seen these rows now. So models are
compared, rescored and explained by their first fit; only predictions and the test quality are of
the second.
"""

from easeml.contract.states import JobState, PromotionKind, RolloutWay
from easeml.contract.tasks import WeightedPipeline
from easeml.modules import Registry
from easeml.service.gates import kept
from easeml.service.knowledge import knowledge_base
from easeml.service.models import ensembling, promotion
from easeml.service.rollouts import kept as kept_rollouts
from easeml.service.search import model_limits
from easeml.service.search.model_limits import Amounts
from easeml.service.tasks import requests
from easeml.service.tasks.measured import Measured
from easeml.store import Tables, Transaction
from easeml.store.records import Application, Job, Task, TrainedModel

KIND = "refit"
_LEASH = 2.0  # times what the first fit cost: it has a third more rows
_SHORTEST_LEASH = 10.0  # seconds
_REASON = "fitted on training and validation rows; its quality was measured before that"


def request(tx: Transaction, registry: Registry, job: Job) -> Task | None:
    """Have what serves fitted on all rows, if ``job`` rests and what serves is its model.

    None where nothing is to be done: the search goes on, its models are being put together, the
    model is pinned or imported, was fitted so before, or that is or was tried. Where the
    application has a gate, or rolls models out, what was tested is what serves.
    """
    tables = tx.scoped(job.tenant_id)
    if job.state != JobState.RESTING:
        return None
    if ensembling.is_under_way(tables, job):
        return None
    application = tables.applications.get(job.application_id)
    if not application.live_model_id or application.pinned:
        return None
    if _serves_as_tested(tables, application):
        return None
    model = tables.models.get(application.live_model_id)
    if model.job_id != job.id or not _may_be_fitted(tables, model):
        return None
    version = tables.versions.get(job.version_id)
    return requests.request(
        tx,
        job.tenant_id,
        KIND,
        model.id,
        job_id=job.id,
        members=members(tables, registry, model),
        objective=application.objective,
        quality=model.quality,
        temperature=temperature_of(tables, model),
        thresholds=thresholds_of(tables, model),
        schema_in=version.schema_in,
        schema_out=version.schema_out,
        seed=version.operation.seed,
    )


def record(
    tx: Transaction, task: Task, artefact: str, predictions: str, latency: float | None = None
) -> None:
    """Keep what a refit brought, and serve it where the model still serves.

    ``latency``: its seconds for a row. One that breaks a rule of its application is not kept.
    """
    tables = tx.scoped(task.tenant_id)
    tested = tables.models.get(task.subject)
    application = tables.applications.get(tested.application_id)
    if _serves_as_tested(tables, application):
        return  # it was asked for before that was so
    fitted_on = tables.jobs.get(tested.job_id).version_id
    if application.rules.forecast and fitted_on != application.version_id:
        return  # what serves was told newer values meanwhile, which this fit does not know
    held = model_limits.amounts_of(tables, [tested])[tested.id].monotonic
    size = dict(tables.artefacts.pick("digest", "size", digest=artefact)).get(artefact, 0)
    reason = model_limits.broken(application.rules, Amounts(latency, size, held))
    if reason:
        note = f"It serves as it was fitted first. Fitted on all rows it breaks a rule: {reason}"
        tables.models.update(tested.id, notes=[*tested.notes, note])
        return
    model = tables.models.update(task.subject, refitted=artefact, refitted_predictions=predictions)
    if application.live_model_id == model.id:
        promotion.make_live(tx, application, model, PromotionKind.REFIT, _REASON)


def told_newer(tx: Transaction, task: Task, artefact: str, version_id: str) -> None:
    """Let a forecast serve from files that know the values of a version.

    It stays the model that it was. Where the application has gone on to another version, another
    task tells it that one's.
    """
    tables = tx.scoped(task.tenant_id)
    model = tables.models.get(task.subject)
    application = tables.applications.get(model.application_id)
    if application.version_id != version_id:
        return
    if model.refitted:
        tables.models.update(model.id, refitted=artefact)
    else:
        tables.models.update(model.id, artefact=artefact)
    told = {"model_id": model.id, "version_id": version_id}
    tx.events.append("promotion.told", application.id, told, task.tenant_id)


def _serves_as_tested(tables: Tables, application: Application) -> bool:
    """Tell whether a model is tested before it serves, and may not be another one then."""
    if kept.active(tables, application.id) is not None:
        return True
    return kept_rollouts.rule_of(tables, application).way != RolloutWay.AT_ONCE


def _may_be_fitted(tables: Tables, model: TrainedModel) -> bool:
    """Tell whether a search made a model, and it was not asked yet to fit it again."""
    made_by = tables.tasks.get(model.task_id).spec_kind
    if not model.candidate_id and made_by != ensembling.KIND:
        return False
    return not requests.of_kind(tables, KIND, subject=model.id)


def members(tables: Tables, registry: Registry, model: TrainedModel) -> list[WeightedPipeline]:
    """Return what is fitted: the pipeline of the model, or those of an ensemble.

    None of a model that was trained elsewhere, or adapted.
    """
    if model.candidate_id:
        return [_member(tables, registry, model, 1.0)]
    found = []
    for member in _measured(tables, model).members:
        single = tables.models.get(member.model_id)
        found.append(_member(tables, registry, single, member.weight))
    return found


def temperature_of(tables: Tables, model: TrainedModel) -> float:
    """Return the temperature of an ensemble's probabilities; 1 of one that has none."""
    return _measured(tables, model).temperature or 1.0


def thresholds_of(tables: Tables, model: TrainedModel) -> list[float] | None:
    """Return the thresholds of a model's labels; None of one without several labels a row."""
    return _measured(tables, model).thresholds


def _member(
    tables: Tables, registry: Registry, model: TrainedModel, weight: float
) -> WeightedPipeline:
    candidate = tables.candidates.get(model.candidate_id)
    cost = tables.tasks.get(model.task_id).cost or candidate.predicted_cost
    leash = max(_SHORTEST_LEASH, _LEASH * cost)
    pipeline = knowledge_base.pipeline_of(registry, candidate)
    measured = _measured(tables, model)
    return WeightedPipeline(
        pipeline=pipeline,
        weight=weight,
        leash=leash,
        temperature=measured.temperature,
        thresholds=measured.thresholds,
    )


def _measured(tables: Tables, model: TrainedModel) -> Measured:
    """Return what the task that made a model measured."""
    return Measured.from_json(tables.tasks.get(model.task_id).result)
