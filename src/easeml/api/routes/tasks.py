"""Tasks, and the scheduler's decisions."""

from typing import Annotated

from fastapi import APIRouter, Query

from easeml.api.context import After, Asker, Here, Limit, NewestFirst, OfJob
from easeml.contract.evaluation import AttemptLog, TaskReport
from easeml.contract.resources import Decision, Page, Task, TaskDetail
from easeml.contract.states import TaskState
from easeml.service.models import evaluation
from easeml.service.tasks import logs, task_views

router = APIRouter(tags=["tasks"])


@router.get("/tasks")
def list_tasks(
    here: Here,
    asker: Asker,
    *,
    job_id: OfJob = None,
    state: Annotated[TaskState | None, Query(description="in this state only")] = None,
    kind: Annotated[str | None, Query(description="kind of the tasks, such as train")] = None,
    subject: Annotated[
        str | None, Query(max_length=100, description="for this application or version only")
    ] = None,
    newest_first: NewestFirst = False,
    after: After = None,
    limit: Limit = 50,
) -> Page[Task]:
    """List the tenant's tasks."""
    wanted = {"job_id": job_id, "state": state, "kind": kind, "subject": subject}
    return task_views.list_page(
        here.store, asker, after=after, limit=limit, newest_first=newest_first, **wanted
    )


@router.get("/tasks/{task_id}/detail")
def get_task_detail(here: Here, asker: Asker, task_id: str) -> TaskDetail:
    """Show what a task was told to do, and its attempts."""
    return task_views.detail(here.store, asker, task_id)


@router.get("/tasks/{task_id}/report")
def get_task_report(here: Here, asker: Asker, task_id: str) -> TaskReport:
    """Show how the model of a training task does on validation rows."""
    return evaluation.report(here.store, asker, task_id)


@router.get("/tasks/{task_id}/log")
def get_task_log(
    here: Here,
    asker: Asker,
    task_id: str,
    attempt: Annotated[
        int | None, Query(ge=1, le=2**31, description="its number; the newest by default")
    ] = None,
    offset: Annotated[int, Query(ge=0, le=2**40, description="bytes already known")] = 0,
) -> AttemptLog:
    """Show what an attempt printed, also while it runs."""
    work = here.settings.home / "work"
    return logs.log(here.store, work, asker, task_id, attempt=attempt, offset=offset)


@router.get("/tasks/{task_id}")
def get_task(here: Here, asker: Asker, task_id: str) -> Task:
    """Show a task."""
    return task_views.get(here.store, asker, task_id)


@router.get("/decisions")
def list_decisions(
    here: Here,
    asker: Asker,
    *,
    job_id: OfJob = None,
    newest_first: NewestFirst = False,
    after: After = None,
    limit: Limit = 50,
) -> Page[Decision]:
    """List what the scheduler decided for the tenant's jobs, with what explains it."""
    return task_views.decisions_page(
        here.store, asker, after=after, limit=limit, newest_first=newest_first, job_id=job_id
    )
