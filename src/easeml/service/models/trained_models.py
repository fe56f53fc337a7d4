"""Trained models, to look at."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from easeml.contract import measures
from easeml.contract.models import EnsembleMember
from easeml.contract.models import TrainedModel as TrainedModelAnswer
from easeml.service.advice import rescoring
from easeml.service.tasks.measured import Measured
from easeml.store import Tables
from easeml.store.records import Task, TrainedModel
from easeml.store.shapes import CandidatePipeline, Json


@dataclass(frozen=True, slots=True)
class LearnedFrom:
    """The version that a job learned from.

    ``is_comparable``: its validation rows are those of the version in use by now, and its qualities
    are by the objective in use, ``objective``. ``former``: the objective of its qualities, where
    that is another one.
    """

    number: int
    is_comparable: bool
    objective: str
    former: str


def show_models(
    tables: Tables,
    models: list[TrainedModel],
    versions: Mapping[str, LearnedFrom] | None = None,
) -> list[TrainedModelAnswer]:
    """Return the resources of trained models, also of several applications, in their order.

    ``versions``: what their jobs learned from, by job, where that is at hand.
    """
    candidate_ids = [model.candidate_id for model in models]
    pipelines = dict(tables.candidates.pick("id", "pipeline", id=candidate_ids))
    tasks = tables.tasks.by_id(id=[model.task_id for model in models])
    if versions is None:
        versions = versions_of_jobs(tables, {model.job_id for model in models})
    digests = [model.served for model in models]
    sizes = dict(tables.artefacts.pick("digest", "size", digest=digests))
    return [
        _show(
            model,
            tasks[model.task_id],
            pipelines.get(model.candidate_id),
            versions[model.job_id],
            sizes.get(model.served, 0),
        )
        for model in models
    ]


def versions_of_jobs(tables: Tables, job_ids: Collection[str]) -> dict[str, LearnedFrom]:
    """Return what each job learned from."""
    jobs = tables.jobs.list(id=list(job_ids), limit=None)
    asked = [job.application_id for job in jobs]
    in_use = {}
    datasets = set()
    for id, version_id, dataset_id, objective in tables.applications.pick(
        "id", "version_id", "dataset_id", "objective", id=asked
    ):
        in_use[id] = version_id, objective
        datasets.add(dataset_id)
    versions = tables.versions.by_id(dataset_id=sorted(datasets))
    found = {}
    for job in jobs:
        version = versions[job.version_id]
        version_id, objective = in_use[job.application_id]
        same_rows = rescoring.have_same_validation_rows(version, versions[version_id], versions)
        former = "" if job.is_judged_by(objective) else job.objective
        is_comparable = same_rows and not former
        found[job.id] = LearnedFrom(version.number, is_comparable, objective, former)
    return found


@dataclass(frozen=True, slots=True)
class _ByObjective:
    """How good a model is by the objective that its application has now.

    ``low``, ``high``: interval of the quality; ``measure``: the same in its own unit.
    """

    quality: float
    low: float | None
    high: float | None
    measure: Json


def _by_objective(
    model: TrainedModel, task: Task, measured: Measured, version: LearnedFrom
) -> _ByObjective:
    """Return how good a model is; one that another objective chose may have been measured by this."""
    if not version.former:
        return _ByObjective(model.quality, measured.low, measured.high, task.measure)
    quality = model.metrics.get(version.objective, model.quality)
    known = {**measured.measures, **model.measures}
    return _ByObjective(quality, None, None, known.get(version.objective, {}))


def _show(
    model: TrainedModel,
    task: Task,
    pipeline: CandidatePipeline | None,  # None of an ensemble
    version: LearnedFrom,
    size: int,
) -> TrainedModelAnswer:
    measured = Measured.from_json(task.result)
    by_objective = _by_objective(model, task, measured, version)
    return TrainedModelAnswer(
        id=model.id,
        name=model.name,
        quality=by_objective.quality,
        low=by_objective.low,
        high=by_objective.high,
        latency=measured.latency,
        cost=task.cost,
        size=size,
        config=pipeline.model.config if pipeline else {},
        measure=measures.kept(by_objective.measure),
        metrics=model.metrics,
        measures={**measured.measures, **model.measures},
        notes=model.notes,
        task_id=model.task_id,
        version=version.number,
        comparable=version.is_comparable,
        former_objective=version.former,
        error=model.error,
        retired=not model.artefact,
        refitted=bool(model.refitted),
        members=[EnsembleMember(**member.to_json()) for member in measured.members],
        created=model.created,
    )
