"""When a wait is over: decided from what the service answered."""

from enum import StrEnum

from easeml.contract.applications import Application
from easeml.contract.datasets import Version
from easeml.contract.states import ApplicationState, TaskState, VersionState
from easeml.contract.task_views import Task
from easeml.errors import Conflict, InvalidInput


class Milestone(StrEnum):
    """What can be waited for."""

    FIRST_MODEL = "first-model"
    CONVERGED = "converged"


def is_ready(version: Version) -> bool:
    """Tell whether a version is ingested. Raises InvalidInput where that failed."""
    if version.state == VersionState.FAILED:
        message, file = (
            version.error or "The data could not be read.",
            str(version.operation.get("filename", "")),
        )
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
    state = job.state if job else ""
    if application.state == ApplicationState.FAILED or state == "failed":
        reason = application.error or (job.error if job else "") or "no reason is known"
        raise Conflict(f"The application failed: {reason}", where=application.id)
    ended = job is not None and state in {"resting", "stopped"} and job.tasks_under_way == 0
    if milestone is Milestone.CONVERGED:
        return ended and job is not None and (job.settled or state == "stopped")
    if (
        application.live_model is None and ended and job and not job.tasks_done
    ):  # else it is about to be served
        raise Conflict(
            f"The search is {state} and found no model.",
            where=application.id,
            remedy=f"See why with `easeml task list --job {job.id if job else ''}`.",
        )
    return application.live_model is not None
