"""Streams that say that something changed and nothing more: who hears it looks for themselves."""

import asyncio
from collections.abc import AsyncIterator

from fastapi import Request
from starlette.responses import StreamingResponse

from easeml.api.context import Context
from easeml.api.gate import let_in
from easeml.errors import NotAllowed, NotFound, NotSignedIn
from easeml.service.access import sharing

KEEP_ALIVE = 15.0
"""Seconds: how often a silent stream says that it lives, and its key is looked at again."""


def stream(here: Context, request: Request, kind: str, tenant_id: str | None) -> StreamingResponse:
    """Stream an event of a kind whenever something happens to a tenant (None: to any).

    It ends when the request would not be let in any more: before anything more is said, or at the
    latest after ``KEEP_ALIVE`` seconds.
    """
    messages = _messages(here, request, kind, tenant_id)
    return StreamingResponse(messages, media_type="text/event-stream")


async def wait(news: asyncio.Event, seconds: float) -> bool:
    """Wait for news, but not longer than that; are there any?"""
    try:
        return await asyncio.wait_for(news.wait(), max(seconds, 0))
    except TimeoutError:
        return False


async def _messages(
    here: Context, request: Request, kind: str, tenant_id: str | None
) -> AsyncIterator[bytes]:
    asked = sharing.asked_for(request.method, request.scope["path"])
    seq = here.fanout.last
    with here.fanout.subscribe(None) as news:
        yield b": easeml\n\n"
        while not here.fanout.closed:
            said = b": still here\n\n"
            if await wait(news, KEEP_ALIVE):
                said = _said(here, kind, tenant_id, seq)
            news.clear()
            seq = here.fanout.last
            if not said:
                continue
            try:
                caller = await let_in(here, request.scope, asked)
            except (NotSignedIn, NotAllowed, NotFound):
                return
            if tenant_id not in (None, caller.tenant_id):  # nothing is shared with them any more
                return
            yield said


def has_news(here: Context, tenant_id: str | None, seq: int) -> bool:
    """Tell whether something may have happened since event ``seq``: what is not known counts."""
    if tenant_id is None:
        return True
    heard = here.fanout.since(tenant_id, seq)
    return heard != []


def _said(here: Context, kind: str, tenant_id: str | None, seq: int) -> bytes:
    """Return the message of what happened since event ``seq``; empty where nothing did."""
    if not has_news(here, tenant_id, seq):
        return b""
    return f"id: {here.fanout.last}\nevent: {kind}\ndata: {{}}\n\n".encode()
