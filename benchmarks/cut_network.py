"""A way to a server on this machine that can be cut, in one direction or both, and slowed."""

import asyncio
import threading
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

Direction = Literal["there", "back"]
Place = Path | int
"""A socket of this machine: a file, or a port of loopback."""
_LOOPBACK = "127.0.0.1"
_PIECE = 2**16  # bytes


class Network:
    """Relays the connections to a socket, from another socket that clients use in its place."""

    def __init__(self, socket: Place, server: Place):
        """``socket``: where it listens; ``server``: the one that is meant."""
        self._socket = socket
        self._server = server
        self._loop = asyncio.new_event_loop()
        self._is_open: dict[Direction, asyncio.Event] = {}
        self._delay = 0.0
        self._writers: set[asyncio.StreamWriter] = set()
        threading.Thread(target=self._loop.run_forever, name="network", daemon=True).start()
        self._do(self._listen())

    def cut(self, *directions: Direction) -> None:
        """Let nothing through; what is sent waits, as nobody says that it was lost."""
        for direction in directions:
            self._loop.call_soon_threadsafe(self._is_open[direction].clear)

    def slow(self, seconds: float) -> None:
        """Let all that is sent come so many seconds later."""
        self._delay = seconds

    def mend(self, *, breaks: bool) -> None:
        """Let all through again, or first break the connections: both sides see them end, and what
        waited is lost.
        """
        self._delay = 0.0
        self._do(self._mend(breaks=breaks))

    def close(self) -> None:
        """Relay no more."""
        self._do(self._mend(breaks=True))
        self._loop.call_soon_threadsafe(self._loop.stop)

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _listen(self) -> None:
        self._is_open = {"there": asyncio.Event(), "back": asyncio.Event()}
        await self._mend(breaks=False)
        if isinstance(self._socket, int):
            await asyncio.start_server(self._relay, _LOOPBACK, self._socket)
        else:
            await asyncio.start_unix_server(self._relay, self._socket)

    async def _mend(self, *, breaks: bool) -> None:
        if breaks:
            for writer in list(self._writers):
                writer.transport.abort()
        for is_open in self._is_open.values():
            is_open.set()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ends = {writer}
        try:
            server_reader, server_writer = await self._connect()
            ends.add(server_writer)
            self._writers |= ends
            there = self._pump(reader, server_writer, "there")
            await asyncio.gather(there, self._pump(server_reader, writer, "back"))
        except OSError:
            return  # one side has gone
        finally:
            self._writers -= ends
            for end in ends:
                end.transport.abort()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if isinstance(self._server, int):
            return await asyncio.open_connection(_LOOPBACK, self._server)
        return await asyncio.open_unix_connection(self._server)

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, direction: Direction
    ) -> None:
        while piece := await reader.read(_PIECE):
            await asyncio.sleep(self._delay)
            await self._is_open[direction].wait()
            if writer.is_closing():
                raise ConnectionResetError
            writer.write(piece)
            await writer.drain()
        with suppress(OSError):
            writer.write_eof()
