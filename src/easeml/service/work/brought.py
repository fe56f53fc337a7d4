"""What becomes of a batch of answers: a version, and then what the search with it brought."""

import math
from operator import attrgetter
from typing import Any

from easeml.contract.states import JobState, VersionState
from easeml.contract.work import WorkBrought, WorkMaking
from easeml.service.advice import rescoring
from easeml.service.search import validation_scores
from easeml.service.search.validation_scores import are_alike
from easeml.store import Tables, id_of
from easeml.store.records import Application, DatasetVersion, Job
from easeml.store.shapes import OperationName

_DONE = (JobState.RESTING, JobState.STOPPED)


def newest(tables: Tables, application: Application) -> WorkBrought | None:
    """Return what the newest version of people's answers brought, and what all of them did.

    None where there is none. Scores are on the validation rows, with their answers as they are.
    """
    made = _versions(tables, application)
    if not made:
        return None
    version = made[0]
    brought = WorkBrought(
        version=version.number,
        labels=_labels(version),
        cells=_cells(version),
        versions=len(made),
        labels_in_all=sum(map(_labels, made)),
        cells_in_all=sum(map(_cells, made)),
        rows=version.summary.rows_of("validation"),
        corrected=version.summary.corrected("validation"),
    )
    job = tables.jobs.find(application_id=application.id, version_id=version.id)
    if job is None:
        return brought
    brought.searching = job.state not in _DONE
    brought.score = validation_scores.of_job(tables, job.id)
    brought.score_before = _score_before(tables, application, job, job)
    if brought.score_before is None:
        brought.score_before = rescoring.quality_then(tables, application, version)
    brought.within_chance = _is_within_chance(brought.score, brought.score_before, brought.rows)
    ids = list(map(attrgetter("id"), made))
    searches = tables.jobs.list(application_id=application.id, version_id=ids, limit=1)
    first = searches[0]
    brought.score_at_first = _score_before(tables, application, first, job)
    brought.serves = _version_that_serves(tables, application)
    return brought


def _version_that_serves(tables: Tables, application: Application) -> int | None:
    """Return the number of the version that what serves has learned from; None before it does."""
    if not application.live_model_id:
        return None
    live = tables.models.get(application.live_model_id)
    job = tables.jobs.get(live.job_id)
    version = tables.versions.get(job.version_id)
    return version.number


def _score_before(tables: Tables, application: Application, job: Job, newest: Job) -> float | None:
    """Return the score of the search before ``job``.

    None where there is none, or where other rows judged it than the ``newest``.
    """
    before = tables.jobs.newest(application_id=application.id, after=job.id)
    if before is None:
        return None
    if not are_alike(tables, application, before, newest):
        return None
    return validation_scores.of_job(tables, before.id)


def _is_within_chance(score: float | None, before: float | None, rows: int) -> bool:
    """Tell whether a difference is smaller than what so many rows can tell.

    The 95 % interval of a share is at most 1 / sqrt(n) to each side.
    """
    if score is None or before is None:
        return False
    difference = abs(score - before)
    told_by_rows = 1.0 / math.sqrt(max(1, rows))
    return difference < told_by_rows


def _labels(version: DatasetVersion) -> int:
    """Return how many labels people's answers changed in a version."""
    changed = version.operation.told.get("labels", ())
    return len(changed)


def _cells(version: DatasetVersion) -> int:
    """Return how many cells people's answers changed in a version."""
    changed = version.operation.told.get("cells", ())
    return len(changed)


def making(tables: Tables, application: Application) -> WorkMaking | None:
    """Return the newest version of people's answers as long as it is being made, or if it failed.

    None where it is ready, or there is none.
    """
    version = _newest_version(tables, application, state=None)
    if version is None or version.state == VersionState.READY:
        return None
    return WorkMaking(
        version=version.number,
        version_id=version.id,
        state=version.state,
        labels=_labels(version),
        cells=_cells(version),
        task_id=id_of(tables.tasks.newest(subject=version.id)),
        error=version.error,
        created=version.created,
    )


def _newest_version(
    tables: Tables, application: Application, state: VersionState | None = VersionState.READY
) -> DatasetVersion | None:
    """Return the newest version of people's answers in a state; None: in any."""
    return next(iter(_versions(tables, application, state)), None)


def _versions(
    tables: Tables, application: Application, state: VersionState | None = VersionState.READY
) -> list[DatasetVersion]:
    """Return the versions of people's answers in a state, newest first; None: in any."""
    where: dict[str, Any] = {} if state is None else {"state": state}
    found = tables.versions.list(
        dataset_id=application.dataset_id, limit=None, newest_first=True, **where
    )
    own = [one for one in found if one.operation.application_id == application.id]
    return [one for one in own if one.operation.name == OperationName.ANSWER]
