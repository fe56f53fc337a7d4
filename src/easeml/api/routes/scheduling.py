"""The scheduler's view, its decisions step by step, and what other policies would have done."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import StreamingResponse

from easeml.api.context import Asker, Context, Here, Limit
from easeml.api.operations import Operation, add_routes
from easeml.api.routes.events import KEEP_ALIVE, wait
from easeml.contract.resources import Page
from easeml.contract.scheduling import SchedulerView, Step
from easeml.errors import NotSignedIn
from easeml.service.access.caller import Caller
from easeml.service.administration import kept_settings
from easeml.service.scheduling import decisions, looking_back, overview, replay

OPERATIONS = (
    Operation("replay", "GET", "/scheduler/replay", replay.replay),
    Operation("scheduler_decision", "GET", "/scheduler/decisions/{number}", looking_back.show),
    Operation("simulate", "GET", "/scheduler/simulation", replay.simulation),
)

router = APIRouter(tags=["scheduler"])
add_routes(router, OPERATIONS)

Seconds = Annotated[float, Query(ge=10, le=31 * 86400, description="how far to look back")]


@router.get("/scheduler")
def get_scheduler(here: Here, asker: Asker, span: Seconds = 600.0) -> SchedulerView:
    """Show devices, queue, tenants and losses of all; who does not run this easeml sees other
    tenants by number.
    """
    policy = kept_settings.policy_in_force(here.store, here.settings)
    return overview.show(here.store, asker, policy, span)


@router.get("/scheduler/decisions")
def list_scheduler_decisions(
    here: Here,
    asker: Asker,
    application: Annotated[
        str | None, Query(max_length=200, description="id or name of an application")
    ] = None,
    after: Annotated[int, Query(ge=0, le=2**31, description="number of the decision before")] = 0,
    latest: Annotated[
        int | None, Query(ge=1, le=200, description="only the newest so many")
    ] = None,
    limit: Limit = 50,
) -> Page[Step]:
    """List the decisions of the scheduler for all tenants, or for one application, oldest first.

    Each has the scores behind it, the runners-up, the rule, and a sentence.
    """
    return decisions.page(
        here.store, asker, application=application, after=after, latest=latest, limit=limit
    )


@router.get(
    "/scheduler/live",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}}},
)
async def stream_changes(request: Request, here: Here, asker: Asker) -> StreamingResponse:
    """Stream an event ``scheduler.changed``, which tells nothing more, whenever something happens
    to any tenant.
    """
    return StreamingResponse(_changes(here, request, asker), media_type="text/event-stream")


async def _changes(here: Context, request: Request, asker: Caller) -> AsyncIterator[bytes]:
    """Give the messages of one stream until its key ends or the controller stops."""
    with here.fanout.subscribe(None) as news:
        yield b": easeml\n\n"
        while not here.fanout.closed:
            if await wait(news, KEEP_ALIVE):
                news.clear()
                yield f"id: {here.fanout.last}\nevent: scheduler.changed\ndata: {{}}\n\n".encode()
                continue
            try:
                await here.authenticator.caller(request.headers)
            except NotSignedIn:
                return
            yield b": still here\n\n"
