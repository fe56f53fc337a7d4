"""A tenant's serving child, seen from the predictor: starts it, talks to it, and sets it up again
when it dies.
"""

import asyncio
import itertools
import multiprocessing
import os
import signal
import socket
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path

import structlog

from easeml.confinement import Isolation
from easeml.engine.flood import FloodWatch
from easeml.engine.fork_server import fork_server
from easeml.engine.serving.frames import Header, encode, read_frame
from easeml.engine.serving.keeper import ContainerKeeper
from easeml.engine.serving.said import pass_on
from easeml.engine.serving.shelf import Assigned
from easeml.errors import EasemlError, NotReady
from easeml.folders import remove_folder

log = structlog.get_logger()
IMPORTS = ("easeml.engine.serving.warm",)
_context = multiprocessing.get_context("forkserver")
MOST_WRITTEN = 2 * 2**30  # bytes of files that a child keeps: those of programs it runs, above all
_LOOK_EVERY = 1.0  # seconds
_ERRORS = 2  # the descriptor that leads into the log


def warm_up() -> None:
    """Start the fork server and return when it has imported what every child needs.

    Call before the first child.
    """
    fork_server(IMPORTS)


class TenantChild:
    """One child process. Many tasks may use it at once; answers are matched by number."""

    def __init__(self, memory: int, models: Path, isolation: Isolation = "none"):
        """``memory``: most bytes of the child. ``models``: the folder of those that it will load."""
        self._memory = memory
        self._models = models
        self._isolation: Isolation = isolation
        self._keeper: ContainerKeeper | None = None
        self._beginning_to_keep = threading.Lock()
        self._numbers = itertools.count()
        self._waiting: dict[int, asyncio.Future[Header]] = {}

    async def start(self) -> None:
        """Fork the child and begin to listen to it."""
        ours, theirs = socket.socketpair()
        asks, self._kept = socket.socketpair()
        self._handing, handed = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        said, says = socket.socketpair()
        self._own = Path(tempfile.mkdtemp(dir=self._models.parent, prefix="child-"))
        from easeml.engine.serving.child import serve  # here: it imports the modules room

        self._process = _context.Process(
            target=serve,
            args=(
                theirs,
                handed,
                asks,
                says,
                self._memory,
                self._models,
                self._own,
                self._isolation,
            ),
            daemon=True,
        )
        await asyncio.to_thread(self._process.start)
        for one in (theirs, handed, asks, says):
            one.close()
        printed, self._printing = await asyncio.open_connection(sock=said)
        self._beside = [
            asyncio.create_task(pass_on(printed, partial(os.write, _ERRORS))),
            asyncio.create_task(self._watch()),
        ]
        reader, self._writer = await asyncio.open_connection(sock=ours)
        self._listener = asyncio.create_task(self._listen(reader))

    @property
    def alive(self) -> bool:
        """Whether the child still answers."""
        return not self._listener.done()

    async def load(
        self,
        model_id: str,
        name: str,
        objective: str,
        folder: Path,
        objective_source: str = "",
        environments: Mapping[str, str] | None = None,
    ) -> None:
        """Load a model beside those that serve.

        ``objective_source``: text of the objective, where it is not installed. ``environments``: of
        programs, by name, and where they are.

        Raises ``EasemlError`` if it fails or its parity does not hold.
        """
        facts: Header = {"model_id": model_id, "name": name, "objective": objective}
        facts |= {"folder": str(folder), "objective_source": objective_source}
        facts["environments"] = dict(environments or {})
        answer = await self._call({"do": "load", **facts})
        if error := answer["error"]:
            raise EasemlError(f"Model {model_id} could not be loaded: {error}")

    def allow(self, images: Mapping[str, str]) -> None:
        """Let programs of its models run in images, too: image -> what the engine calls it.

        The keeper of the child is started for the first.
        """
        with self._beginning_to_keep:  # models of several applications load at once
            if self._keeper is None:
                self._keeper = ContainerKeeper(self._kept, self._models.parent / "images")
        self._keeper.allow(images)

    async def serve(self, application: str, assigned: Assigned) -> None:
        """Let loaded models answer for an application from now on; those that they replace are
        forgotten. Raises ``EasemlError`` if the child does not have them.
        """
        facts = {"application": application, **asdict(assigned)}
        answer = await self._call({"do": "serve", **facts})
        if error := answer["error"]:
            raise EasemlError(f"Model {assigned.model_id} cannot serve: {error}")

    async def withdraw(self, application: str) -> None:
        """Let nothing answer for an application any more. Raises ``NotReady`` if it has ended."""
        await self._call({"do": "withdraw", "application": application})

    async def quiet_seconds(self) -> dict[str, float]:
        """Return for how long nobody has asked each application that it serves; none where it ends."""
        try:
            answer = await self._call({"do": "tell_quiet"})
        except NotReady:
            return {}
        return answer["quiet_seconds"]

    def hand_over(self, connection: socket.socket, application: str) -> None:
        """Let the child answer on a connection. Raises ``OSError`` if it has ended."""
        socket.send_fds(self._handing, [application.encode()], [connection.fileno()])

    async def _call(self, header: Header) -> Header:
        """Send a frame and return what it answers. Raises ``NotReady`` when the child dies first."""
        if not self.alive:
            raise NotReady("The serving process ended.")
        number = next(self._numbers)
        future = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            self._writer.write(encode({**header, "id": number}))
            await self._writer.drain()
        except OSError as error:
            self._waiting.pop(number, None)
            raise NotReady("The serving process ended.") from error
        return await future

    async def stop(self) -> None:
        """End the child."""
        for task in (self._listener, *self._beside):
            task.cancel()  # its end is no surprise
        self._printing.close()
        self._writer.close()
        self._handing.close()
        self._kept.close()
        self._kill()
        await asyncio.to_thread(self._process.join)
        await asyncio.gather(self._listener, *self._beside, return_exceptions=True)
        if self._keeper is not None:
            await asyncio.to_thread(self._keeper.wait)
        await asyncio.to_thread(remove_folder, self._own)

    def _kill(self) -> None:
        """Kill the child and what it forked."""
        assert self._process.pid is not None
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()  # it may not have made its group yet

    async def _watch(self) -> None:
        """End the child once it leaves more files, or has more processes, than it may."""
        assert self._process.pid is not None
        flood = FloodWatch(self._process.pid, self._own, MOST_WRITTEN)
        while not (fault := await asyncio.to_thread(flood.fault)):
            await asyncio.sleep(max(_LOOK_EVERY, flood.pause))
        log.warning("serving child is ended", pid=self._process.pid, it=fault)
        self._kill()

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        try:
            while True:
                header, _ = await read_frame(reader)
                future = self._waiting.pop(header["id"])
                if not future.done():  # the caller may have gone
                    future.set_result(header)
        except (asyncio.IncompleteReadError, OSError):
            log.warning("serving child ended", pid=self._process.pid)
        finally:
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(NotReady("The serving process ended."))
            self._waiting.clear()
