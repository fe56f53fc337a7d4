"""The outermost middleware: bounded bodies, security headers, and a problem document whatever
happens.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from easeml.api.headers import header_of
from easeml.api.problems import problem_of
from easeml.errors import InvalidInput, TooLarge
from easeml.protocols.errors import in_form_of

PATIENCE = 60.0  # seconds that a body may stand still in all, beyond what its bytes are given
LEAST_RATE = 1024  # bytes a second
IS_WHOLE = "easeml.is_whole"
"""A function of a scope where the server has one: whether the whole body has come, so that nobody
waits for it. Most have; a clock for each would cost more than any other step."""

_SMALLER = "Send it in parts; a long file goes in pieces, by POST /api/v1/uploads."
HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}


class RequestLimits:
    """Bounds every request body by ``limit_of(scope)`` bytes and turns every exception into a
    problem document.
    """

    def __init__(
        self, app: ASGIApp, limit_of: Callable[[Scope], int], headers: Mapping[str, str] = HEADERS
    ):
        """``headers``: put into every answer that does not say otherwise."""
        self._app = app
        self._limit_of = limit_of
        self._headers = [(name.encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)
        else:  # easeml speaks no WebSocket
            await send({"type": "websocket.close", "code": 1008})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message["headers"] = self._with_own(message.get("headers", ()))
            await send(message)

        try:
            limit = self._limit_of(scope)
            check(scope, limit)
            await self._app(scope, bounded(scope, receive, limit), send_with_headers)
        except ClientDisconnect:
            return  # nobody is there to be answered
        except Exception as error:
            answer = in_form_of(scope["path"], problem_of(error))
            if started:
                raise  # too late for a status: nobody is to take a cut answer for the whole
            await answer(scope, receive, send_with_headers)

    def _with_own(self, given: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        """Return headers, and those of every answer that are not among them."""
        headers = list(given)
        names = {name for name, _ in headers}
        return headers + [header for header in self._headers if header[0] not in names]


def check(scope: Scope, limit: int) -> None:
    """Raise for a request that is refused by its first lines already."""
    if "\0" in scope["path"] or b"%00" in scope["query_string"]:
        raise InvalidInput("The address holds a NUL character.", where="path")
    length = header_of(scope, b"content-length")
    if length.isdigit() and int(length) > limit:
        text = f"The request body has {int(length)} bytes; {limit} are allowed."
        raise TooLarge(text, where="body", remedy=_SMALLER)


def bounded(scope: Scope, receive: Receive, limit: int) -> Receive:
    """Return ``receive`` that raises once more than ``limit`` bytes came in, or come too slowly.

    Only the time that is waited for bytes counts, not that of those who read them.
    """
    seen = 0
    waited = 0.0
    has_ended = False
    is_whole = scope.get(IS_WHOLE, _is_unknown)

    async def receive_bounded() -> Message:
        nonlocal seen, waited, has_ended
        if has_ended:  # what follows tells that the other side has gone, whenever it goes
            return await receive()
        if is_whole():
            message = await receive()
        else:
            began = time.monotonic()
            message = await _received_soon(receive, PATIENCE + seen / LEAST_RATE - waited)
            waited += time.monotonic() - began
        seen += len(message.get("body", b""))
        has_ended = not message.get("more_body", False)
        if seen > limit:  # FastAPI passes on this kind only while it reads a body
            raise HTTPException(
                413, f"The request body has more than the {limit} bytes that are allowed."
            )
        return message

    return receive_bounded


def _is_unknown() -> bool:
    return False


async def _received_soon(receive: Receive, seconds: float) -> Message:
    try:
        async with asyncio.timeout(seconds):
            return await receive()
    except TimeoutError as error:
        text = (
            f"The request body came too slowly: at least {LEAST_RATE} bytes a second are expected."
        )
        raise HTTPException(408, text, {"Connection": "close"}) from error
