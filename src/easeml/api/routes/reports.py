"""Reports: lifecycle tools are asked about an application, and answer."""

from fastapi import APIRouter, status

from easeml.api.context import After, Asker, Here, Limit, OnceKey
from easeml.contract.reports import NewReport, Report
from easeml.contract.resources import Page, Task
from easeml.service.advice import tools

router = APIRouter(prefix="/applications/{application_id}/reports", tags=["reports"])


@router.post("", status_code=status.HTTP_201_CREATED)
def ask_tool(
    here: Here, asker: Asker, application_id: str, wish: NewReport, once: OnceKey = None
) -> Task:
    """Ask a lifecycle tool about an application's data; a task answers with a report."""
    return tools.ask(here.store, asker, application_id, wish, idempotency_key=once)


@router.get("")
def list_reports(
    here: Here, asker: Asker, application_id: str, after: After = None, limit: Limit = 50
) -> Page[Report]:
    """List what tools answered about an application, newest first."""
    return tools.list_page(here.store, asker, application_id, after=after, limit=limit)
