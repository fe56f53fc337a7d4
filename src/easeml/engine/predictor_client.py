"""The controller's side of the data plane: forwards a request's bytes to a predictor and brings back its answer."""

import asyncio
import time
from contextlib import suppress

from easeml.engine.serving.frames import Header, encode, read_frame
from easeml.errors import NotReady
from easeml.settings import Settings
from easeml.store import Store

_PATIENCE = 30.0  # seconds; a predictor that was killed is back within this, also on a busy machine
_PAUSE = 0.05

_Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class PredictorClient:
    """Keeps open connections to the running predictor; a prediction is asked again when a connection breaks."""

    def __init__(self, store: Store, settings: Settings):
        self._store = store
        self._secret_file = settings.home / "internal.secret"
        self._idle: list[_Connection] = []

    async def predict(self, tenant_id: str, application_id: str, content_type: str, body: bytes) -> tuple[int, bytes]:
        """Return HTTP status and JSON bytes of the answer. Raises ``NotReady`` if no predictor answers in time."""
        header = {"tenant": tenant_id, "application": application_id, "content_type": content_type}
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            try:
                return await self._ask(header, body)
            except (
                OSError,
                asyncio.IncompleteReadError,
            ):  # a prediction changes nothing: asking again is safe
                await asyncio.sleep(_PAUSE)
        raise NotReady("No predictor answers.", remedy="Try again in a few seconds; see: easeml status")

    async def close(self) -> None:
        """Close all idle connections."""
        while self._idle:
            _, writer = self._idle.pop()
            writer.close()

    async def _ask(self, header: Header, body: bytes) -> tuple[int, bytes]:
        reader, writer = connection = self._idle.pop() if self._idle else await self._connect()
        done = False
        try:
            writer.write(encode({**header, "secret": self._secret}, body))
            await writer.drain()
            answer, reply = await read_frame(reader)
            done = True
        finally:  # also when the caller goes away half-way: the answer left on the wire must not reach another
            if done:
                self._idle.append(connection)
            else:
                with suppress(OSError):
                    writer.close()
        return answer["status"], reply

    async def _connect(self) -> _Connection:
        address = await asyncio.to_thread(self._address)
        host, _, port = address.rpartition(":")
        return await asyncio.open_connection(host, int(port))

    def _address(self) -> str:
        self._secret = self._secret_file.read_text().strip()
        with self._store.read() as tx:
            running = tx.processes.list(kind="predictor", state="running", limit=1, newest_first=True)
        if not running:
            raise ConnectionRefusedError("no predictor is registered")
        return running[0].address
