"""What the last batch of answers brought: the search with them beside the one before."""

from easeml.contract.states import JobState, VersionState
from easeml.contract.work import WorkBrought
from easeml.store import Tables
from easeml.store.records import Application, DatasetVersion, Job
from easeml.store.shapes import OperationName

_DONE = (JobState.RESTING, JobState.STOPPED)


def newest(tables: Tables, application: Application) -> WorkBrought | None:
    """Return what the newest version of people's answers brought; None where there is none."""
    version = _newest_version(tables, application)
    if version is None:
        return None
    jobs = tables.jobs.list(application_id=application.id, limit=None)
    now = next((job for job in jobs if job.version_id == version.id), None)
    before = _before(jobs, now)
    labels, cells = (len(version.operation.told.get(name, ())) for name in ("labels", "cells"))
    return WorkBrought(
        version=version.number,
        labels=labels,
        cells=cells,
        score_before=before.best_quality if before else None,
        score=now.best_quality if now else None,
        searching=now is not None and now.state not in _DONE,
    )


def _newest_version(tables: Tables, application: Application) -> DatasetVersion | None:
    found = tables.versions.list(
        dataset_id=application.dataset_id, state=VersionState.READY, limit=None, newest_first=True
    )
    for version in found:
        operation = version.operation
        is_own = operation.application_id == application.id
        if is_own and operation.name == OperationName.ANSWER:
            return version
    return None


def _before(jobs: list[Job], job: Job | None) -> Job | None:
    """Return the search before one; ``jobs``: in the order in which they began."""
    if job is None:
        return None
    earlier = [one for one in jobs if one.id < job.id]
    return earlier[-1] if earlier else None
