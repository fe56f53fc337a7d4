"""Requests begin in turn by who sends them, so that nobody waits behind all that others sent."""

import asyncio
from collections import deque

from starlette.types import ASGIApp, Receive, Scope, Send

from easeml.api.headers import header_of

A_STEP = 16
"""Requests that begin in one step of the event loop: each takes about a millisecond of it."""

_NAMES = (b"authorization", b"x-api-key", b"cookie")  # of the header that says who sends


class Turns:
    """Middleware that lets a few requests begin in each step of the event loop.

    Where more have come, their senders take turns. A step begins with what the connections brought,
    so thousands of requests that come at once would otherwise be one long step, in which whoever
    stands beside waits, once for each step of theirs.
    """

    def __init__(self, app: ASGIApp):
        self._app = app
        self._begun = 0  # in this step
        self._waiting: dict[bytes, deque[asyncio.Future[None]]] = {}  # whose turn is next: first

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._turn(scope)
        await self._app(scope, receive, send)

    async def _turn(self, scope: Scope) -> None:
        """Wait until a request may begin."""
        loop = asyncio.get_running_loop()
        if self._begun == 0:
            loop.call_soon(self._next_step)
        if self._begun < A_STEP and not self._waiting:
            self._begun += 1
            return
        turn: asyncio.Future[None] = loop.create_future()
        self._waiting.setdefault(_sender(scope), deque()).append(turn)
        await turn

    def _next_step(self) -> None:
        """Let the next requests begin."""
        self._begun = 0
        while self._waiting and self._begun < A_STEP:
            self._begun += self._let_one_begin()
        if self._begun:
            asyncio.get_running_loop().call_soon(self._next_step)

    def _let_one_begin(self) -> bool:
        """Take one of the sender whose turn it is; return whether it still waited."""
        sender, waiting = next(iter(self._waiting.items()))
        del self._waiting[sender]
        turn = waiting.popleft()
        if waiting:
            self._waiting[sender] = waiting
        if turn.done():
            return False
        turn.set_result(None)
        return True


def _sender(scope: Scope) -> bytes:
    """Return what tells senders apart: the credentials as they are, or else the address."""
    told = next(filter(None, (header_of(scope, name) for name in _NAMES)), b"")
    host, _ = scope.get("client") or ("", 0)
    return told or host.encode()
