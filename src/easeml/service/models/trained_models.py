"""Trained models, to look at."""

from collections.abc import Collection

from easeml.contract import resources
from easeml.service.advice import rescoring
from easeml.store import Tables
from easeml.store.records import DatasetVersion, TrainedModel


def show_models(tables: Tables, models: list[TrainedModel]) -> list[resources.TrainedModel]:
    """Return the resources of trained models, in their order."""
    tried = {
        c.id: c for c in tables.candidates.list(id=[m.candidate_id for m in models], limit=None)
    }
    tasks_of = {
        task.id: task for task in tables.tasks.list(id=[m.task_id for m in models], limit=None)
    }
    versions = (
        versions_of(tables, models[0].application_id, {m.job_id for m in models}) if models else {}
    )
    digests = {
        a.digest: a.size
        for a in tables.artefacts.list(digest=[m.artefact for m in models], limit=None)
    }
    return [
        resources.TrainedModel(
            id=model.id,
            name=model.name,
            quality=model.quality,
            low=tasks_of[model.task_id].result.get("low"),
            high=tasks_of[model.task_id].result.get("high"),
            latency=tasks_of[model.task_id].result.get("latency"),
            cost=tasks_of[model.task_id].cost,
            size=digests.get(model.artefact, 0),
            config=tried[model.candidate_id].pipeline.get("model", {}).get("config", {}),
            metrics=model.metrics,
            notes=model.notes,
            task_id=model.task_id,
            version=versions[model.job_id].number,
            comparable=rescoring.have_same_validation_rows(versions[model.job_id], versions[""]),
            created=model.created,
        )
        for model in models
    ]


def versions_of(
    tables: Tables, application_id: str, job_ids: Collection[str]
) -> dict[str, DatasetVersion]:
    """Return the versions that an application's jobs learned from, by job; under no job the one in
    use.
    """
    if not job_ids:
        return {}
    in_use = tables.applications.get(application_id).version_id
    used = {job.id: job.version_id for job in tables.jobs.list(id=list(job_ids), limit=None)} | {
        "": in_use
    }
    by_id = {
        version.id: version for version in tables.versions.list(id=list(used.values()), limit=None)
    }
    return {job_id: by_id[version_id] for job_id, version_id in used.items()}
