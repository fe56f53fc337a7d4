"""All tasks of the tenant, newest first, page by page."""

from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response
from starlette.routing import Route

from easeml.contract.states import TaskState
from easeml.web.page_context import PageContext, signed_in

_KINDS = {"ingest": "read a file", "train": "train", "advise": "analyse"}
_PAGE = 50


@signed_in
async def show(context: PageContext) -> Response:
    """Show a page of the tasks that the filter lets through."""
    asked = context.request.query_params
    state = asked.get("state", "") if asked.get("state") in set(TaskState) else ""
    kind = asked.get("kind", "") if asked.get("kind") in _KINDS else ""
    application, after = asked.get("application", ""), asked.get("after") or None
    wanted = {"state": state or None, "kind": kind or None, "subject": application or None}
    page = await context.client.newest_tasks(after=after, limit=_PAGE, **wanted)
    filters: dict[str, Any] = {"state": state, "kind": kind, "application": application}
    return context.render(
        "tasks.html",
        page=page,
        counts=(await context.client.status()).tasks,
        names={one.id: one.name async for one in context.client.applications()},
        states=TaskState,
        kinds=_KINDS,
        after=after,
        query=urlencode({name: value for name, value in filters.items() if value}),
        **filters,
    )


routes = [Route("/tasks", show)]
