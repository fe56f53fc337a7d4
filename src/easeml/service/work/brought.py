"""What becomes of a batch of answers: a version, and then what the search with it brought."""

from typing import Any

from easeml.contract.states import JobState, VersionState
from easeml.contract.work import WorkBrought, WorkMaking
from easeml.service.search import validation_scores
from easeml.service.search.validation_scores import are_alike
from easeml.store import Tables, id_of
from easeml.store.records import Application, DatasetVersion, Job
from easeml.store.shapes import OperationName

_DONE = (JobState.RESTING, JobState.STOPPED)


def newest(tables: Tables, application: Application) -> WorkBrought | None:
    """Return what the newest version of people's answers brought, and what all of them did.

    None where there is none. Scores are on validation rows, which no answer changes.
    """
    made = _versions(tables, application)
    if not made:
        return None
    told = made[0].operation.told
    brought = WorkBrought(
        version=made[0].number,
        labels=len(told.get("labels", ())),
        cells=len(told.get("cells", ())),
        versions=len(made),
        labels_in_all=sum(len(one.operation.told.get("labels", ())) for one in made),
        cells_in_all=sum(len(one.operation.told.get("cells", ())) for one in made),
        rows=made[0].summary.rows_of("validation"),
    )
    ids = [version.id for version in made]
    searches = tables.jobs.list(application_id=application.id, version_id=ids, limit=None)
    job = tables.jobs.find(application_id=application.id, version_id=made[0].id)
    if job is None:
        return brought
    brought.searching = job.state not in _DONE
    before = tables.jobs.newest(application_id=application.id, after=job.id)
    at_first = tables.jobs.newest(application_id=application.id, after=searches[0].id)
    scores = _scores(tables, application, job, before, at_first)
    brought.score = scores[0]
    brought.score_before = scores[1]
    brought.score_at_first = scores[2]
    brought.within_chance = _is_within_chance(brought.score, brought.score_before, brought.rows)
    return brought


def _scores(
    tables: Tables, application: Application, job: Job, *others: Job | None
) -> list[float | None]:
    """Return the scores of a search and of others that the same rows judged; None of the rest."""
    known = [one for one in others if one and are_alike(tables, application, job, one)]
    found = validation_scores.by_job(tables, [job.id, *(one.id for one in known)])
    ids = [one.id if one in known else "" for one in others]
    return [found.get(id) for id in (job.id, *ids)]


def _is_within_chance(score: float | None, before: float | None, rows: int) -> bool:
    """Tell whether a difference is smaller than what so many rows can tell.

    The 95 % interval of a share is at most 1 / sqrt(n) to each side.
    """
    if score is None or before is None or not rows:
        return False
    return abs(score - before) < rows**-0.5


def making(tables: Tables, application: Application) -> WorkMaking | None:
    """Return the newest version of people's answers as long as it is being made, or if it failed.

    None where it is ready, or there is none.
    """
    version = _newest_version(tables, application, state=None)
    if version is None or version.state == VersionState.READY:
        return None
    told = version.operation.told
    return WorkMaking(
        version=version.number,
        version_id=version.id,
        state=version.state,
        labels=len(told.get("labels", ())),
        cells=len(told.get("cells", ())),
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
