"""What the last batch of answers brought: the search with them beside the one before."""

from easeml.contract.states import JobState, VersionState
from easeml.contract.work import WorkBrought
from easeml.store import Tables
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


def _newest_version(tables: Tables, application: Application) -> DatasetVersion | None:
    found = tables.versions.list(
        dataset_id=application.dataset_id, state=VersionState.READY, limit=None, newest_first=True
    )
    own = [one for one in found if one.operation.application_id == application.id]
    answers = (one for one in own if one.operation.name == OperationName.ANSWER)
    return next(answers, None)
