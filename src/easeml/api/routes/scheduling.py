"""The scheduler's view, its decisions step by step, and what other policies would have done."""

from fastapi import APIRouter, Request
from starlette.responses import StreamingResponse

from easeml.api import change_stream
from easeml.api.context import Here
from easeml.api.operations import Operation, add_routes
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
async def stream_changes(request: Request, here: Here) -> StreamingResponse:
    """Stream an event ``scheduler.changed``, which tells nothing more, whenever something happens
    to any tenant.
    """
    return change_stream.stream(here, request, "scheduler.changed", None)
