"""The scheduler's view, its decisions step by step, and what other policies would have done."""

from collections.abc import AsyncIterator

from fastapi import APIRouter, Request
from starlette.responses import StreamingResponse

from easeml.api.context import Asker, Context, Here
from easeml.api.operations import Operation, add_routes
from easeml.api.routes.events import KEEP_ALIVE, wait
from easeml.errors import NotSignedIn
from easeml.service.access.caller import Caller
from easeml.service.scheduling import decisions, looking_back, overview, replay

OPERATIONS = (
    Operation("scheduler", "GET", "/scheduler", overview.show),
    Operation("scheduler_decisions", "GET", "/scheduler/decisions", decisions.page, by_page=True),
    Operation("replay", "GET", "/scheduler/replay", replay.replay),
    Operation("scheduler_decision", "GET", "/scheduler/decisions/{number}", looking_back.show),
    Operation("simulate", "GET", "/scheduler/simulation", replay.simulation),
)

router = APIRouter(tags=["scheduler"])
add_routes(router, OPERATIONS)


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
