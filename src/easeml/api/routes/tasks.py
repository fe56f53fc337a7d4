"""Tasks, and the scheduler's decisions."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from easeml.api.context import Asker, Here
from easeml.api.operations import Operation, add_routes
from easeml.contract.evaluation import AttemptLog
from easeml.service.models import evaluation
from easeml.service.tasks import logs, steering, task_views, traces
from easeml.service.views import task_view

OPERATIONS = (
    Operation("tasks", "GET", "/tasks", task_views.list_page),
    Operation("task_overview", "GET", "/tasks/overview", task_views.overview),
    Operation("task", "GET", "/tasks/{task_id}", task_views.get),
    Operation("version_tasks", "GET", "/versions/{version_id}/tasks", task_views.of_version),
    Operation("task_view", "GET", "/tasks/{task_id}/view", task_view.get),
    Operation("task_detail", "GET", "/tasks/{task_id}/detail", task_views.detail),
    Operation("task_report", "GET", "/tasks/{task_id}/report", evaluation.report),
    Operation("cancel_task", "POST", "/tasks/{task_id}/cancel", steering.cancel),
    Operation("retry_task", "POST", "/tasks/{task_id}/retry", steering.retry, repeatable=False),
    Operation("trace_task", "POST", "/tasks/{task_id}/tracing", steering.trace),
    Operation("decisions", "GET", "/decisions", task_views.decisions_page),
)

router = APIRouter(tags=["tasks"])
add_routes(router, OPERATIONS)


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


@router.get("/tasks/{task_id}/trace", response_class=Response)
def get_task_trace(
    here: Here,
    asker: Asker,
    task_id: str,
    attempt: Annotated[
        int | None, Query(ge=1, le=2**31, description="its number; the newest traced by default")
    ] = None,
) -> Response:
    """Download what an attempt did, also while it runs: a file in Chrome's trace format."""
    work = here.settings.home / "work"
    content = traces.chrome(here.store, work, asker, task_id, attempt=attempt)
    named = {"content-disposition": f'attachment; filename="{task_id}.trace.json"'}
    return Response(content, media_type="application/json", headers=named)
