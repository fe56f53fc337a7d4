"""What becomes of a batch of answers: a version, and then what the search with it brought."""

from typing import Any

from easeml.contract.states import JobState, VersionState
from easeml.contract.work import WorkBrought, WorkMaking
from easeml.store import Tables, id_of
from easeml.store.records import Application, DatasetVersion
from easeml.store.shapes import OperationName

_DONE = (JobState.RESTING, JobState.STOPPED)


def newest(tables: Tables, application: Application) -> WorkBrought | None:
    """Return what the newest version of people's answers brought; None where there is none."""
    version = _newest_version(tables, application)
    if version is None:
        return None
    told = version.operation.told
    brought = WorkBrought(
        version=version.number, labels=len(told.get("labels", ())), cells=len(told.get("cells", ()))
    )
    job = tables.jobs.find(application_id=application.id, version_id=version.id)
    if job is None:
        return brought
    brought.score = job.best_quality
    brought.searching = job.state not in _DONE
    earlier = tables.jobs.newest(application_id=application.id, after=job.id)
    if earlier is not None:
        brought.score_before = earlier.best_quality
    return brought


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
    where: dict[str, Any] = {} if state is None else {"state": state}
    found = tables.versions.list(
        dataset_id=application.dataset_id, limit=None, newest_first=True, **where
    )
    own = [one for one in found if one.operation.application_id == application.id]
    answers = (one for one in own if one.operation.name == OperationName.ANSWER)
    return next(answers, None)
