"""All tasks of the tenant, newest first, page by page."""

from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response
from starlette.routing import Route

from easeml.contract.states import TaskState
from easeml.web.forms import one_of
from easeml.web.page_context import PageContext, signed_in

_KINDS = {"ingest": "read a file", "train": "train", "advise": "analyse"}
_PAGE = 50


@signed_in
async def show(context: PageContext) -> Response:
    """Show a page of the tasks that the filter lets through."""
    asked = context.request.query_params
    # What is no state or kind, as in an old bookmark, filters nothing.
    filters: dict[str, Any] = {
        "state": one_of(set(TaskState), asked.get("state", "")),
        "kind": one_of(_KINDS, asked.get("kind", "")),
        "application": asked.get("application", ""),
    }
    given = {name: wanted for name, wanted in filters.items() if wanted}
    after = asked.get("after") or None
    found = await context.client.task_overview(
        after=after,
        limit=_PAGE,
        state=given.get("state"),
        kind=given.get("kind"),
        subject=given.get("application"),
    )
    return context.render(
        "tasks.html",
        page=found.page,
        counts=found.counts,
        names=found.applications,
        states=TaskState,
        kinds=_KINDS,
        after=after,
        query=urlencode(given),
        **filters,
    )


routes = [Route("/tasks", show)]
