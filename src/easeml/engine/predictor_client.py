"""The controller's side of the data plane: forwards a request to the serving child and brings back
its answer.
"""

import asyncio
import time
from collections import deque
from contextlib import suppress

from easeml.contract.states import ProcessKind, ProcessState
from easeml.engine import internal_secret
from easeml.engine.joined_writes import JoinedWrites
from easeml.engine.membership import this_host
from easeml.engine.serving.frames import Header, encode, take_frames
from easeml.errors import NotReady
from easeml.ids import request_id
from easeml.protocols.answered import Answered
from easeml.settings import Settings
from easeml.store import Store

_PATIENCE = 30.0  # seconds; a predictor that was killed is back within this, also on a busy machine
_PAUSE = 0.05
_TRIES = 3  # of a request that was sent: it may be what ends the serving process
_MOST_LINES = 256
OTHER_SERVICE = 401
"""Status with which a predictor answers who does not know the secret of its home."""

_Key = tuple[str, str]  # tenant, application


class _Refused(Exception):
    """The predictor does not serve this application; holds its answer."""

    def __init__(self, status: int, content: bytes):
        super().__init__(status)
        self.answer = status, content


def _ended() -> ConnectionResetError:
    return ConnectionResetError("the serving process ended")


class _Line(asyncio.Protocol):
    """A connection to the child that serves an application. It answers requests in their order."""

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[tuple[Header, bytes]]] = deque()
        self._received = bytearray()
        self.has_ended = False

    @property
    def is_idle(self) -> bool:
        """Does nobody wait for an answer?"""
        return not self._waiting

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._writes = JoinedWrites(transport)

    def ask(self, request: bytes) -> "asyncio.Future[tuple[Header, bytes]]":
        """Send a request; its answer comes later, or ``OSError`` where the connection ends first.

        Whoever waits for it may go away: the answers to others find their way all the same.
        """
        answer = asyncio.get_running_loop().create_future()
        if self.has_ended:
            answer.set_exception(_ended())
            return answer
        self._waiting.append(answer)
        self._writes.write(request)
        return answer

    def data_received(self, data: bytes) -> None:
        self._received += data
        for answer in take_frames(self._received):
            asked = self._waiting.popleft()
            if not asked.done():
                asked.set_result(answer)

    def connection_lost(self, exc: Exception | None) -> None:
        self.has_ended = True
        for asked in self._waiting:
            if not asked.done():
                asked.set_exception(_ended())
        self._waiting.clear()

    def close(self) -> None:
        """Close the connection."""
        self._writes.close()


class PredictorClient:
    """Keeps a connection for each application; a prediction is asked again when it breaks."""

    def __init__(self, store: Store, settings: Settings):
        self._store = store
        self._home = settings.home
        self._lines: dict[_Key, _Line] = {}
        self._opening: dict[_Key, asyncio.Task[_Line]] = {}

    async def predict(
        self, tenant_id: str, application_id: str, content_type: str, body: bytes
    ) -> Answered:
        """Return the answer.

        Raises ``NotReady`` if no predictor answers in time.
        """
        key = (tenant_id, application_id)
        request = encode({"content_type": content_type, "request": request_id()}, body)
        try:
            answer, reply = await self._asked(key, request)
        except _Refused as refusal:
            return Answered(*refusal.answer)
        share, failed = answer.get("share", 0.0), answer.get("failed", False)
        return Answered(answer["status"], reply, share, failed)

    async def close(self) -> None:
        """Close all connections."""
        for line in self._lines.values():
            line.close()
        self._lines.clear()

    async def _asked(self, key: _Key, request: bytes) -> tuple[Header, bytes]:
        """Return head and body of the answer. Raises ``_Refused``, ``NotReady``."""
        kept = self._lines.get(key)
        if kept is not None:
            with suppress(OSError):  # it may be old: this says nothing of the request
                return await kept.ask(request)
        deadline = time.monotonic() + _PATIENCE
        broken = 0
        while time.monotonic() < deadline and broken < _TRIES:
            try:
                line = await self._opened(key)
            except OSError:
                await asyncio.sleep(_PAUSE)
                continue
            try:
                return await line.ask(request)
            except OSError:  # a prediction changes nothing: asking again is safe
                broken += 1
                await asyncio.sleep(_PAUSE)
        if broken:
            raise NotReady(
                "The serving process ended while it worked on the request.",
                remedy="Send fewer rows.",
            )
        raise NotReady(
            "No predictor answers.",
            remedy="Try again in a few seconds; see: easeml status",
        )

    async def _opened(self, key: _Key) -> _Line:
        """Return the connection for an application; of several who want it one opens it.

        Raises ``_Refused``, ``OSError``.
        """
        line = self._lines.get(key)
        if line is not None and not line.has_ended:
            return line
        opening = self._opening.get(key)
        if opening is None:
            opening = self._opening[key] = asyncio.create_task(self._open(key))
            opening.add_done_callback(lambda _: self._opening.pop(key))
        return await asyncio.shield(opening)  # who waits for it may go away

    async def _open(self, key: _Key) -> _Line:
        """Be handed to the child that serves the application. Raises ``_Refused``, ``OSError``."""
        addresses, secret = await asyncio.to_thread(self._whereabouts)
        for address in addresses:
            with suppress(OSError):
                line = await _greet(address, secret, key)
                self._keep(key, line)
                return line
        raise ConnectionRefusedError("no predictor of this service answers")

    def _keep(self, key: _Key, line: _Line) -> None:
        if len(self._lines) >= _MOST_LINES:
            for other, idle in list(self._lines.items()):
                if idle.is_idle:  # it is opened again where it is needed
                    self._lines.pop(other).close()
        self._lines[key] = line

    def _whereabouts(self) -> tuple[list[str], str]:
        """Return where predictors of this machine listen, newest first, and how they are greeted.

        Those of another machine that serves from the same database listen on its loopback.
        """
        with self._store.read() as tx:
            running = tx.processes.list(
                kind=ProcessKind.PREDICTOR,
                state=ProcessState.RUNNING,
                host=this_host(),
                limit=None,
                newest_first=True,
            )
        addresses = [predictor.address for predictor in running]
        return addresses, internal_secret.current(self._home)


async def _greet(address: str, secret: str, key: _Key) -> _Line:
    """Return a connection that serves an application.

    Raises ``_Refused``, and ``OSError``, also where the predictor is of another service.
    """
    host, _, port = address.rpartition(":")
    loop = asyncio.get_running_loop()
    _, line = await loop.create_connection(_Line, host, int(port))
    tenant, application = key
    greeting = {"tenant": tenant, "application": application, "secret": secret}
    answer, reply = await line.ask(encode(greeting))
    if answer["status"] == 200:
        return line
    line.close()
    if answer["status"] == OTHER_SERVICE:
        raise ConnectionRefusedError("the predictor is of another service")
    raise _Refused(answer["status"], reply)
