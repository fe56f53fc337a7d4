"""The controller's side of the data plane: forwards a request to the serving child and brings back
its answer.
"""

import asyncio
import time
from contextlib import suppress

from easeml.contract.states import ProcessKind, ProcessState
from easeml.engine import internal_secret
from easeml.engine.membership import this_host
from easeml.engine.serving.frames import encode, read_frame
from easeml.errors import NotReady
from easeml.ids import request_id
from easeml.protocols.answered import Answered
from easeml.settings import Settings
from easeml.store import Store

_PATIENCE = 30.0  # seconds; a predictor that was killed is back within this, also on a busy machine
_PAUSE = 0.05
_TRIES = 3  # of a request that was sent: it may be what ends the serving process
_MOST_IDLE = 256
OTHER_SERVICE = 401
"""Status with which a predictor answers who does not know the secret of its home."""

_Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]
_Key = tuple[str, str]  # tenant, application


class _Refused(Exception):
    """The predictor does not serve this application; holds its answer."""

    def __init__(self, status: int, content: bytes):
        super().__init__(status)
        self.answer = status, content


class PredictorClient:
    """Keeps open connections, each for one application; a prediction is asked again when a
    connection breaks.
    """

    def __init__(self, store: Store, settings: Settings):
        self._store = store
        self._home = settings.home
        self._idle: dict[_Key, list[_Connection]] = {}

    async def predict(
        self, tenant_id: str, application_id: str, content_type: str, body: bytes
    ) -> Answered:
        """Return the answer.

        Raises ``NotReady`` if no predictor answers in time.
        """
        key = (tenant_id, application_id)
        request = encode({"content_type": content_type, "request": request_id()}, body)
        deadline, broken = time.monotonic() + _PATIENCE, 0
        while time.monotonic() < deadline and broken < _TRIES:
            kept = self._kept(key)
            connection = kept
            try:
                connection = kept or await self._open(key)
                return await self._ask(key, connection, request)
            except _Refused as refusal:
                return Answered(*refusal.answer)
            except (
                OSError,
                asyncio.IncompleteReadError,
            ):  # a prediction changes nothing: asking again is safe
                if kept is None:
                    broken += connection is not None
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

    async def close(self) -> None:
        """Close all idle connections."""
        for connections in self._idle.values():
            for _, writer in connections:
                writer.close()
        self._idle.clear()

    def _kept(self, key: _Key) -> _Connection | None:
        connections = self._idle.get(key, [])
        while connections:
            reader, writer = connections.pop()
            if not reader.at_eof():
                return reader, writer
            writer.close()
        return None

    async def _ask(self, key: _Key, connection: _Connection, request: bytes) -> Answered:
        reader, writer = connection
        done = False
        try:
            writer.write(request)
            await writer.drain()
            answer, reply = await read_frame(reader)
            done = True
        finally:  # also when the caller goes away half-way: the answer left on the wire must not reach another
            if done:
                await self._keep(key, connection)
            else:
                with suppress(OSError):
                    writer.close()
        share, failed = answer.get("share", 0.0), answer.get("failed", False)
        return Answered(answer["status"], reply, share, failed)

    async def _keep(self, key: _Key, connection: _Connection) -> None:
        if sum(map(len, self._idle.values())) >= _MOST_IDLE:
            await self.close()  # they are opened again where they are needed
        self._idle.setdefault(key, []).append(connection)

    async def _open(self, key: _Key) -> _Connection:
        """Be handed to the child that serves the application. Raises ``_Refused``, ``OSError``."""
        addresses, secret = await asyncio.to_thread(self._whereabouts)
        for address in addresses:
            with suppress(OSError, asyncio.IncompleteReadError):
                return await self._greet(address, secret, key)
        raise ConnectionRefusedError("no predictor of this service answers")

    async def _greet(self, address: str, secret: str, key: _Key) -> _Connection:
        """Return a connection that serves an application.

        Raises ``_Refused``, and ``OSError``, also where the predictor is of another service.
        """
        host, _, port = address.rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        tenant, application = key
        writer.write(encode({"tenant": tenant, "application": application, "secret": secret}))
        answer, reply = await read_frame(reader)
        if answer["status"] == 200:
            return reader, writer
        writer.close()
        if answer["status"] == OTHER_SERVICE:
            raise ConnectionRefusedError("the predictor is of another service")
        raise _Refused(answer["status"], reply)

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
