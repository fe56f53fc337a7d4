"""Trained models, to look at."""

from collections.abc import Collection
from dataclasses import dataclass

from easeml.contract import measures
from easeml.contract.models import EnsembleMember
from easeml.contract.models import TrainedModel as TrainedModelAnswer
from easeml.service.advice import rescoring
from easeml.store import Tables
from easeml.store.records import Task, TrainedModel
from easeml.store.shapes import CandidatePipeline

from .measured import Measured


@dataclass(frozen=True, slots=True)
class LearnedFrom:
    """The version that a job learned from.

    ``is_comparable``: its validation rows are those of the version in use by now.
    """

    number: int
    is_comparable: bool


def show_models(tables: Tables, models: list[TrainedModel]) -> list[TrainedModelAnswer]:
    """Return the resources of trained models, also of several applications, in their order."""
    candidate_ids = [model.candidate_id for model in models]
    pipelines = dict(tables.candidates.pick("id", "pipeline", id=candidate_ids))
    tasks = tables.tasks.by_id(id=[model.task_id for model in models])
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
    for id, version_id, dataset_id in tables.applications.pick(
        "id", "version_id", "dataset_id", id=asked
    ):
        in_use[id] = version_id
        datasets.add(dataset_id)
    versions = tables.versions.by_id(dataset_id=sorted(datasets))
    found = {}
    for job in jobs:
        version = versions[job.version_id]
        now = versions[in_use[job.application_id]]
        is_comparable = rescoring.have_same_validation_rows(version, now, versions)
        found[job.id] = LearnedFrom(version.number, is_comparable)
    return found


def _show(
    model: TrainedModel,
    task: Task,
    pipeline: CandidatePipeline | None,  # None of an ensemble
    version: LearnedFrom,
    size: int,
) -> TrainedModelAnswer:
    measured = Measured.from_json(task.result)
    return TrainedModelAnswer(
        id=model.id,
        name=model.name,
        quality=model.quality,
        low=measured.low,
        high=measured.high,
        latency=measured.latency,
        cost=task.cost,
        size=size,
        config=pipeline.model.config if pipeline else {},
        measure=measures.kept(task.measure),
        metrics=model.metrics,
        measures={**measured.measures, **model.measures},
        notes=model.notes,
        task_id=model.task_id,
        version=version.number,
        comparable=version.is_comparable,
        error=model.error,
        retired=not model.artefact,
        refitted=bool(model.refitted),
        members=[EnsembleMember(**member.to_json()) for member in measured.members],
        created=model.created,
    )
