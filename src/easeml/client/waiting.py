"""When a wait is over: decided from what the service answered."""

from enum import StrEnum

from easeml.contract.applications import Application
from easeml.contract.datasets import Version
from easeml.contract.jobs import Job
from easeml.contract.states import ApplicationState, JobState, TaskState, VersionState
from easeml.contract.task_views import Task
from easeml.errors import Conflict, InvalidInput


class Milestone(StrEnum):
    """What can be waited for."""

    FIRST_MODEL = "first-model"
    CONVERGED = "converged"


def is_ready(version: Version) -> bool:
    """Tell whether a version is ingested. Raises InvalidInput where that failed."""
    if version.state == VersionState.FAILED:
        message = version.error or "The data could not be read."
        file = str(version.operation.get("filename", ""))
        raise InvalidInput(message, where="" if file in message else file)
    return version.state == VersionState.READY


def is_done(task: Task) -> bool:
    """Tell whether a task is done. Raises Conflict where it failed or was cancelled."""
    if task.state in (TaskState.FAILED, TaskState.CANCELLED):
        raise Conflict(task.error or f"The task was {task.state}.", where=task.id)
    return task.state == TaskState.DONE


def has_reached(application: Application, milestone: Milestone) -> bool:
    """Tell whether an application is there. Raises Conflict where it never will be.

    A search has converged when it rests and has settled: until then what serves may still change,
    and its test quality is not known. One that was stopped has when its last tasks are done.
    """
    job = application.job
    has_failed = job is not None and job.state == JobState.FAILED
    if application.state == ApplicationState.FAILED or has_failed:
        raise Conflict(f"The application failed: {_reason(application)}", where=application.id)
    if milestone is Milestone.CONVERGED:
        return job is not None and _has_converged(job)
    if application.live_model is not None:
        return True
    # A search that has trained something is about to be served.
    if job is not None and _has_ended(job) and not job.tasks_done:
        raise Conflict(
            f"The search is {job.state} and found no model.",
            where=application.id,
            remedy=f"See why with `easeml task list --job {job.id}`.",
        )
    return False


def _reason(application: Application) -> str:
    of_job = application.job.error if application.job else ""
    return application.error or of_job or "no reason is known"


def _has_ended(job: Job) -> bool:
    return job.state in (JobState.RESTING, JobState.STOPPED) and job.tasks_under_way == 0


def _has_converged(job: Job) -> bool:
    return _has_ended(job) and (job.settled or job.state == JobState.STOPPED)
