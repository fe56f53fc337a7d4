"""Connections of a controller to the children that serve an application."""

import asyncio
import socket
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from easeml.engine.joined_writes import JoinedWrites
from easeml.engine.serving.certificates import trusting
from easeml.engine.serving.frames import Header, encode, take_frames

OTHER_SERVICE = 401
"""Status with which a predictor answers who does not know its secret."""

STALLED_SECONDS = 1.0
"""After these an answer that has not come may never come."""

_LOADING_SECONDS = 60.0  # in which another machine fetches and loads a model
_VANISHED = {"TCP_KEEPIDLE": 2, "TCP_KEEPINTVL": 1, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 5000}
"""Seconds, a count and milliseconds: how soon the kernel tells that a machine is gone."""

Key = tuple[str, str]
"""Tenant and application."""


class Refused(Exception):
    """The predictor does not serve this application; holds its answer."""

    def __init__(self, status: int, content: bytes):
        super().__init__(status)
        self.answer = status, content


@dataclass(frozen=True)
class Place:
    """Where a predictor listens, and how it is greeted.

    ``process``: its id. ``certificate``: by which it is known; empty: it is of this machine, and
    listens on loopback. ``domain``: what fails together with it.
    """

    process: str
    address: str
    secret: str
    certificate: str = ""
    domain: str = ""


def _ended() -> ConnectionResetError:
    return ConnectionResetError("the serving process ended")


class Line(asyncio.Protocol):
    """A connection to a child that serves an application. It answers requests in their order."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self._has_ended = False
        self._is_leaving = False
        self._over: Callable[[Line], None] = _do_nothing
        self._waiting: deque[tuple[asyncio.Future[tuple[Header, bytes]], float]] = deque()
        self._received = bytearray()

    def when_over(self, do: "Callable[[Line], None]") -> None:
        """Have it called once nobody should ask any more, now where that is so."""
        self._over = do
        if self._has_ended:
            self._tell_over()

    @property
    def is_busy(self) -> bool:
        """Does somebody wait for an answer?"""
        return bool(self._waiting)

    @property
    def oldest_wait(self) -> float:
        """Seconds for which the next answer has been waited for; 0 where nobody waits."""
        return time.monotonic() - self._waiting[0][1] if self._waiting else 0.0

    @property
    def busyness(self) -> tuple[bool, int]:
        """What orders lines: those that may be stalled come last."""
        return self.oldest_wait > STALLED_SECONDS, len(self._waiting)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._writes = JoinedWrites(transport)
        if self.place.certificate:
            _notice_vanishing(transport)

    def ask(self, request: bytes) -> "asyncio.Future[tuple[Header, bytes]]":
        """Send a request; its answer comes later, or ``OSError`` where the connection ends first.

        Whoever waits for it may go away: the answers to others find their way all the same.
        """
        answer = asyncio.get_running_loop().create_future()
        if self._has_ended:
            answer.set_exception(_ended())
            return answer
        self._waiting.append((answer, time.monotonic()))
        self._writes.write(request)
        return answer

    def take_back(self, answer: "asyncio.Future[tuple[Header, bytes]]") -> None:
        """Tell the child that nobody waits for an answer any more, which it need not begin then.

        The answer comes all the same: with status ``TAKEN_BACK`` where it was not begun.
        """
        asked = [one for one, _ in self._waiting]
        if answer in asked:
            requests_ago = len(asked) - asked.index(answer)
            self._writes.write(encode({"take_back": requests_ago}))

    def data_received(self, data: bytes) -> None:
        self._received += data
        for answer in take_frames(self._received):
            asked, _ = self._waiting.popleft()
            if not asked.done():
                asked.set_result(answer)
        self._close_if_done()

    def connection_lost(self, exc: Exception | None) -> None:
        self._has_ended = True
        self._tell_over()
        for asked, _ in self._waiting:
            if not asked.done():
                asked.set_exception(_ended())
                asked.exception()  # else it is logged where whoever asked has gone away
        self._waiting.clear()

    def close(self) -> None:
        """Close the connection once its answers came; nobody asks on it any more."""
        self._is_leaving = True
        self._tell_over()
        self._close_if_done()

    def abort(self) -> None:
        """Close it at once; those who wait are told."""
        self._tell_over()
        self._writes.abort()

    def _tell_over(self) -> None:
        tell, self._over = self._over, _do_nothing  # once
        tell(self)

    def _close_if_done(self) -> None:
        if self._is_leaving and not self._waiting:
            self._writes.close()


def _do_nothing(_: Line) -> None:
    """Nobody wants to know."""


async def open_line(place: Place, key: Key) -> Line:
    """Return a connection to a child that serves an application.

    Raises ``Refused``, and ``OSError``, also where the predictor is of another service.
    """
    host, _, port = place.address.rpartition(":")
    context = trusting(place.certificate) if place.certificate else None
    loop = asyncio.get_running_loop()
    _, line = await loop.create_connection(
        lambda: Line(place), host.strip("[]"), int(port), ssl=context
    )
    try:
        async with asyncio.timeout(_LOADING_SECONDS if context else None):
            await _greet(line, key)
    except BaseException:
        line.abort()
        raise
    return line


async def _greet(line: Line, key: Key) -> None:
    tenant, application = key
    greeting = {"tenant": tenant, "application": application, "secret": line.place.secret}
    answer, reply = await line.ask(encode(greeting))
    if answer["status"] == OTHER_SERVICE:
        raise ConnectionRefusedError("the predictor is of another service")
    if answer["status"] != 200:
        raise Refused(answer["status"], reply)


def _notice_vanishing(transport: asyncio.Transport) -> None:
    """Have the kernel end a connection to a machine that is gone, where it can."""
    connection: socket.socket = transport.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _VANISHED.items():
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
