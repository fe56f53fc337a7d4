"""Events: as a stream (server-sent events), and page by page."""

import time
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from easeml.api.change_stream import KEEP_ALIVE, wait
from easeml.api.context import Asker, Context, Here, Limit
from easeml.contract.resources import Page
from easeml.contract.status import Event
from easeml.errors import NotSignedIn
from easeml.service.access.caller import Caller
from easeml.service.events import event_stream

router = APIRouter(prefix="/events", tags=["events"])

_BATCH = 200
_LARGEST = 2**63 - 1  # a number that every database holds

Seq = Annotated[int, Query(ge=0, le=_LARGEST, description="number of the last event already known")]


@router.get(
    "", response_class=StreamingResponse, responses={200: {"content": {"text/event-stream": {}}}}
)
async def stream_events(
    request: Request,
    here: Here,
    asker: Asker,
    after: Seq = 0,
    latest: Annotated[bool, Query(description="begin with what happens from now on")] = False,
    last_event_id: Annotated[
        int | None,
        Header(ge=0, le=_LARGEST, description="as `after`; browsers send it when they reconnect"),
    ] = None,
) -> StreamingResponse:
    """Stream the tenant's events as they happen, from the first that follows ``after`` or
    ``Last-Event-ID``; 429 where too many are open.
    """
    here.fanout.check_room(asker.tenant_id)
    start = after
    if last_event_id is not None:
        start = max(after, last_event_id)
    elif latest:
        start = await run_in_threadpool(event_stream.last, here.store)
    return StreamingResponse(_messages(here, request, asker, start), media_type="text/event-stream")


@router.get("/list")
def list_events(here: Here, asker: Asker, after: Seq = 0, limit: Limit = 50) -> Page[Event]:
    """List the tenant's events so far, oldest first."""
    found = event_stream.after(here.store, asker, after, limit=limit + 1)
    if len(found) <= limit:
        return Page(items=found)
    shown = found[:limit]
    return Page(items=shown, next=str(shown[-1].seq))


async def _messages(
    here: Context, request: Request, asker: Caller, seq: int
) -> AsyncIterator[bytes]:
    """Give the messages of one stream until its key ends or the controller stops."""
    look_again = time.monotonic() + KEEP_ALIVE
    with here.fanout.subscribe(asker.tenant_id) as news:
        yield b": easeml\n\n"
        while not here.fanout.closed:
            news.clear()
            found, is_all = await _found(here, asker, seq)
            if found and not await _is_let_in(here, request):
                return
            for event in found:
                seq = event.seq
                yield _message(event)
            if time.monotonic() >= look_again:
                if not await _is_let_in(here, request):
                    return
                look_again = time.monotonic() + KEEP_ALIVE
                yield b": still here\n\n"
            if is_all:
                await wait(news, look_again - time.monotonic())


async def _found(here: Context, asker: Caller, seq: int) -> tuple[list[Event], bool]:
    """Return a stream's events after ``seq``, and whether there are no more of them yet."""
    heard = here.fanout.since(asker.tenant_id, seq)
    if heard is not None:
        return list(map(event_stream.show, heard)), True
    found = await run_in_threadpool(event_stream.after, here.store, asker, seq, limit=_BATCH)
    return found, len(found) < _BATCH


async def _is_let_in(here: Context, request: Request) -> bool:
    """Is the key of a stream still good? Asked before anything is told, so that it ends at once."""
    try:
        await here.authenticator.caller(request.headers)
    except NotSignedIn:
        return False
    return True


def _message(event: Event) -> bytes:
    """Return an event in the form of the WHATWG HTML standard, section 9.2; JSON holds no line
    ends.
    """
    return f"id: {event.seq}\nevent: {event.kind}\ndata: {event.model_dump_json()}\n\n".encode()
