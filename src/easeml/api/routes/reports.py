"""Reports: lifecycle tools are asked about an application or an upload, and answer."""

from fastapi import APIRouter, status

from easeml.api.context import After, Asker, Here, Limit, OnceKey
from easeml.contract.reports import NewReport, NewVersionReport, Report
from easeml.contract.resources import Page, Task
from easeml.service.advice import tools
from easeml.service.applications import questions

router = APIRouter(tags=["reports"])
_OF_APPLICATION = "/applications/{application_id}/reports"
_OF_VERSION = "/versions/{version_id}/reports"


@router.post(_OF_APPLICATION, status_code=status.HTTP_201_CREATED)
def ask_tool(
    here: Here, asker: Asker, application_id: str, wish: NewReport, once: OnceKey = None
) -> Task:
    """Ask a lifecycle tool about an application's data; a task answers with a report."""
    return tools.ask(here.store, asker, application_id, wish, idempotency_key=once)


@router.get(_OF_APPLICATION)
def list_reports(
    here: Here, asker: Asker, application_id: str, after: After = None, limit: Limit = 50
) -> Page[Report]:
    """List what tools answered about an application, newest first."""
    return tools.list_page(here.store, asker, application_id, after=after, limit=limit)


@router.post(_OF_VERSION, status_code=status.HTTP_201_CREATED)
def ask_tool_before_start(
    here: Here, asker: Asker, version_id: str, wish: NewVersionReport, once: OnceKey = None
) -> Task:
    """Ask a lifecycle tool about an upload before an application is made of it.

    It sees the train and validation rows that the declaration gives, never test rows. The report
    moves to the application that is declared in the same way.
    """
    return questions.ask(here.store, asker, version_id, wish, idempotency_key=once)


@router.get(_OF_VERSION)
def list_version_reports(
    here: Here, asker: Asker, version_id: str, after: After = None, limit: Limit = 50
) -> Page[Report]:
    """List what tools answered about an upload that no application took over, newest first."""
    return tools.list_version_page(here.store, asker, version_id, after=after, limit=limit)


@router.get("/tasks/{task_id}/reports")
def list_task_reports(here: Here, asker: Asker, task_id: str) -> Page[Report]:
    """List what tools answered about the model that a task trained, newest first.

    Of a task that asked a tool: its answer.
    """
    return tools.list_task_page(here.store, asker, task_id)
