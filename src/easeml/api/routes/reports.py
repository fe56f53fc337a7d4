"""Reports: lifecycle tools are asked about an application or an upload, and answer."""

from fastapi import APIRouter, status

from easeml.api.context import Asker, Here, OnceKey
from easeml.api.operations import Operation, add_routes
from easeml.contract.reports import NewReport, NewVersionReport
from easeml.contract.task_views import Task
from easeml.service.advice import asking, tools
from easeml.service.applications import questions
from easeml.service.journey import remedies

_OF_APPLICATION = "/applications/{application_id}/reports"
_OF_VERSION = "/versions/{version_id}/reports"

OPERATIONS = (
    Operation("application_tools", "GET", "/applications/{application_id}/tools", asking.available),
    Operation("reports", "GET", _OF_APPLICATION, tools.list_page),
    Operation("version_reports", "GET", _OF_VERSION, tools.list_version_page),
    Operation(
        "follow_remedy",
        "POST",
        f"{_OF_APPLICATION}/{{report_id}}/remedies/{{number}}",
        remedies.follow,
        repeatable=False,
    ),
    Operation("task_reports", "GET", "/tasks/{task_id}/reports", tools.list_task_page),
)

router = APIRouter(tags=["reports"])
add_routes(router, OPERATIONS)


@router.post(_OF_APPLICATION, status_code=status.HTTP_201_CREATED)
def ask_tool(
    here: Here, asker: Asker, application_id: str, wish: NewReport, once: OnceKey = None
) -> Task:
    """Ask a lifecycle tool about an application's data; a task answers with a report."""
    return asking.ask(here.store, asker, application_id, wish, idempotency_key=once)


@router.post(_OF_VERSION, status_code=status.HTTP_201_CREATED)
def ask_tool_before_start(
    here: Here, asker: Asker, version_id: str, wish: NewVersionReport, once: OnceKey = None
) -> Task:
    """Ask a lifecycle tool about an upload before an application is made of it.

    It sees the train and validation rows that the declaration gives, never test rows. The report
    moves to the application that is declared in the same way.
    """
    return questions.ask(here.store, asker, version_id, wish, idempotency_key=once)
