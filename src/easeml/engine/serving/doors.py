"""Where controllers come in to a predictor: each connection is checked, and led to the child that
serves its application.
"""

import asyncio
import secrets
import socket
from collections import Counter
from contextlib import suppress
from hmac import compare_digest
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

import structlog

from easeml.engine import internal_secret
from easeml.engine.serving.certificates import make_certificate
from easeml.engine.serving.frames import Header, encode, read_frame, receive_frame_soon
from easeml.engine.serving.tenant import TenantChild
from easeml.errors import EasemlError, InvalidInput
from easeml.protocols.endpoint import problem

log = structlog.get_logger()
_GREETING_SECONDS = 5.0
_LONGEST_GREETING = 2**12  # bytes
_BACKLOG = 1024
_PIECE = 2**16  # bytes
_STATUS = {"not-found": 404, "not-ready": 503, "unreachable": 503, "storage-full": 507}

REST_SECONDS = 30.0
"""After these without connections a predictor of other machines lets a model go."""


class Serving(Protocol):
    """What a door leads to."""

    async def child_of(self, tenant: str, application: str) -> TenantChild:
        """Return the child that serves an application. Raises ``EasemlError``."""
        ...

    async def let_go(self, tenant: str, application: str) -> None:
        """Nobody asks for an application any more."""
        ...


class Door(Protocol):
    """How it is found: ``address``, and for other machines ``certificate`` and ``secret``."""

    address: str
    certificate: str
    secret: str

    async def stand_open(self) -> None:
        """Let everybody in who knows the secret, for ever."""
        ...

    def close(self) -> None:
        """Let nobody in any more."""
        ...


class HomeDoor:
    """For controllers of the same home: on loopback, without TLS. Children get the connections."""

    certificate = secret = ""

    def __init__(self, serving: Serving, home: Path):
        self._serving = serving
        self._home = home
        self._guests: set[asyncio.Task[None]] = set()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
        self._listener.setblocking(False)
        self.address = "{}:{}".format(*self._listener.getsockname())

    async def stand_open(self) -> None:
        """See ``Door``."""
        while True:
            connection, _ = await asyncio.get_running_loop().sock_accept(self._listener)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            guest = asyncio.create_task(self._receive(connection))
            self._guests.add(guest)
            guest.add_done_callback(self._guests.discard)

    def close(self) -> None:
        """See ``Door``."""
        self._listener.close()

    async def _receive(self, connection: socket.socket) -> None:
        with connection:
            try:
                await self._let_in(connection)
            except (OSError, EOFError):
                return  # who came has gone, or said nothing; or the child has, and they ask again
            except Exception:
                log.exception("a connection was not served")

    async def _let_in(self, connection: socket.socket) -> None:
        async with asyncio.timeout(_GREETING_SECONDS):
            header, _ = await receive_frame_soon(connection)
        shown = str(header.get("secret", ""))
        is_known = await asyncio.to_thread(internal_secret.is_accepted, self._home, shown)
        status, reply, child = await _admit(self._serving, header, is_known=is_known)
        answer = encode({"status": status}, reply)
        await asyncio.get_running_loop().sock_sendall(connection, answer)
        if child is not None:
            child.hand_over(connection, header["application"])


class NetworkDoor:
    """For controllers of other machines: by TLS, whose bytes are passed on to the child.

    Certificate and secret are its own; who reads the database's rows knows both.
    """

    def __init__(self, serving: Serving, place: str):
        """``place``: HOST or HOST:PORT where it listens."""
        self._serving = serving
        self._guests: Counter[tuple[str, str]] = Counter()
        self._going: set[asyncio.Task[None]] = set()
        self.secret = secrets.token_urlsafe(32)
        self.certificate, self._tls = make_certificate("easeml predictor")
        self._listener = listener_at(place)
        host, port = self._listener.getsockname()[:2]
        self.address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    async def stand_open(self) -> None:
        """See ``Door``."""
        server = await asyncio.start_server(
            self._receive,
            sock=self._listener,
            ssl=self._tls,
            ssl_handshake_timeout=_GREETING_SECONDS,
        )
        await server.serve_forever()

    def close(self) -> None:
        """See ``Door``."""
        self._listener.close()

    async def _receive(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._let_in(reader, writer)
        except (OSError, EOFError):
            return  # as at home
        except Exception:
            log.exception("a connection was not served")
        finally:
            writer.close()

    async def _let_in(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(_GREETING_SECONDS):
            header, _ = await read_frame(reader, most=_LONGEST_GREETING)
        shown = str(header.get("secret", "")).encode()
        is_known = compare_digest(shown, self.secret.encode())
        key = str(header.get("tenant")), str(header.get("application"))
        self._guests[key] += is_known
        try:
            status, reply, child = await _admit(self._serving, header, is_known=is_known)
            writer.write(encode({"status": status}, reply))
            await writer.drain()
            if child is not None:
                await _pass_on(child, key[1], reader, writer)
        finally:
            self._guests[key] -= is_known
            if is_known and not self._guests[key]:
                asyncio.get_running_loop().call_later(REST_SECONDS, self._rest, key)

    def _rest(self, key: tuple[str, str]) -> None:
        if self._guests[key] or key not in self._guests:
            return
        del self._guests[key]
        going = asyncio.create_task(self._serving.let_go(*key))
        self._going.add(going)
        going.add_done_callback(self._going.discard)


async def _admit(
    serving: Serving, header: Header, *, is_known: bool
) -> tuple[int, bytes, TenantChild | None]:
    """Return status and body of the answer to a greeting, and where the connection leads."""
    if not is_known:
        error = EasemlError("The internal secret does not match.")
        return 401, problem(401, "Not signed in", error), None
    tenant, application = header.get("tenant"), header.get("application")
    if not isinstance(tenant, str) or not isinstance(application, str):
        error = InvalidInput("A connection names its tenant and its application.")
        return 400, problem(400, "Not understood", error), None
    try:
        return 200, b"", await serving.child_of(tenant, application)
    except EasemlError as error:
        status = _STATUS.get(error.code, 500)
        return status, problem(status, "No prediction", error), None


async def _pass_on(
    child: TenantChild,
    application: str,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    """Let a child answer on a connection whose bytes it cannot read itself, until one side ends."""
    ours, theirs = socket.socketpair()
    with theirs:
        child.hand_over(theirs, application)
    child_reader, child_writer = await asyncio.open_connection(sock=ours)
    ways = [
        asyncio.create_task(_pump(reader, child_writer)),
        asyncio.create_task(_pump(child_reader, writer)),
    ]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        child_writer.close()
        for way in ways:
            way.cancel()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await reader.read(_PIECE):
            writer.write(piece)
            await writer.drain()


def listener_at(place: str) -> socket.socket:
    """Return a socket that listens at HOST or HOST:PORT. Raises ``InvalidInput`` where none can."""
    try:
        found = urlsplit(f"//{place}")
        host = found.hostname or ""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, found.port or 0), family=family, backlog=_BACKLOG)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InvalidInput(
            f"Predictions cannot be answered at {place!r}: {reason}.",
            where="serve_at",
            remedy="Name an address of this machine that services reach, such as 10.0.0.7 or "
            "10.0.0.7:7000.",
        ) from error
