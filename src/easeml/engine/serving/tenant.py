"""A tenant's serving child, seen from the predictor: starts it, talks to it, and sets it up again when it dies."""

import asyncio
import itertools
import multiprocessing
import socket
from pathlib import Path

import structlog

from easeml.engine.serving.frames import Header, encode, read_frame
from easeml.errors import EasemlError, NotReady

log = structlog.get_logger()
_context = multiprocessing.get_context("forkserver")


def warm_up() -> None:
    """Start the fork server and return when it has imported what every child needs. Call before the first child."""
    _context.set_forkserver_preload(["easeml.engine.serving.warm"])
    first = _context.Process(target=_nothing)
    first.start()
    first.join()


def _nothing() -> None:
    """Its end tells that the imports are done."""


class TenantChild:
    """One child process. ``call`` may be used by many tasks at once; answers are matched by number."""

    def __init__(self, memory: int):
        self._memory = memory
        self._numbers = itertools.count()
        self._waiting: dict[int, asyncio.Future[tuple[Header, bytes]]] = {}

    async def start(self) -> None:
        """Fork the child and begin to listen to it."""
        ours, theirs = socket.socketpair()
        from easeml.engine.serving.child import serve  # here: it imports the modules room

        self._process = _context.Process(target=serve, args=(theirs, self._memory), daemon=True)
        await asyncio.to_thread(self._process.start)
        theirs.close()
        reader, self._writer = await asyncio.open_connection(sock=ours)
        self._listener = asyncio.create_task(self._listen(reader))

    @property
    def alive(self) -> bool:
        """Whether the child still answers."""
        return not self._listener.done()

    async def call(self, header: Header, body: bytes = b"") -> tuple[Header, bytes]:
        """Send a frame and return its answer. Raises ``NotReady`` when the child dies first."""
        if not self.alive:
            raise NotReady("The serving process ended.")
        number = next(self._numbers)
        future = self._waiting[number] = asyncio.get_running_loop().create_future()
        self._writer.write(encode({**header, "id": number}, body))
        await self._writer.drain()
        return await future

    async def load(self, model_id: str, name: str, objective: str, folder: Path) -> None:
        """Load a model beside those that serve. Raises ``EasemlError`` if it fails or its parity does not hold."""
        request = {
            "do": "load",
            "model_id": model_id,
            "name": name,
            "objective": objective,
            "folder": str(folder),
        }
        answer, _ = await self.call(request)
        if not answer["ok"]:
            raise EasemlError(f"Model {model_id} could not be loaded: {answer['error']}")

    def unload(self, model_id: str) -> None:
        """Forget a model. Requests sent before are answered by it still: frames are handled in order."""
        self._writer.write(encode({"do": "unload", "model_id": model_id}))

    async def stop(self) -> None:
        """End the child."""
        self._writer.close()
        self._process.kill()
        await asyncio.to_thread(self._process.join)
        await asyncio.gather(self._listener, return_exceptions=True)

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        try:
            while True:
                header, body = await read_frame(reader)
                future = self._waiting.pop(header["id"])
                if not future.done():  # the caller may have gone
                    future.set_result((header, body))
        except (asyncio.IncompleteReadError, OSError):
            log.warning("serving child ended", pid=self._process.pid)
        finally:
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(NotReady("The serving process ended while it worked on the request."))
            self._waiting.clear()
