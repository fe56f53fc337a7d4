"""Every request has an id: in its answer, in whatever is logged meanwhile, and in the access log."""

import logging
import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bind_contextvars

from easeml.api.headers import header_of
from easeml.ids import begin_request, new_id
from easeml.version import __version__

HEADER = "x-request-id"
_NAME = HEADER.encode()
VERSION_HEADER = "x-easeml-version"  # by which a client of another version knows
_VERSION = (VERSION_HEADER.encode(), __version__.encode())
_GIVEN = re.compile(r"[A-Za-z0-9._:-]{1,100}")
_LARGEST = 50 * 2**20  # bytes of an access log; then a new one begins
_OLDER = 4  # access logs that are kept beside it
_WITH_SECRETS = ("/join/",)  # paths that end in one

Note = Callable[..., Any]


class RequestIds:
    """Middleware that gives each request an id of its own: ``request.state.request_id``.

    An id that the client sends as ``X-Request-Id`` is sent back, and logged beside it.
    """

    def __init__(self, app: ASGIApp, note: Note | None = None):
        """``note``: writes a line of the access log; None: there is none."""
        self._app = app
        self._note = note

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        own = new_id("req")
        given = header_of(scope, _NAME).decode("latin-1")
        named = {"request": own}
        if _GIVEN.fullmatch(given):
            named["client_request"] = given
            bind_contextvars(client_request=given)
        begin_request(own)  # of this request alone: a server answers each in its own task
        scope.setdefault("state", {})["request_id"] = own
        answered = _Answered(send, named.get("client_request", own))
        began = time.perf_counter()
        try:
            await self._app(scope, receive, answered.send)
        finally:
            if self._note is not None:
                seconds = time.perf_counter() - began
                self._note(**_line(scope, answered, seconds), **named)


class _Answered:
    """What an answer was, as it is sent."""

    def __init__(self, send: Send, request_id: str):
        self._send = send
        self._id = request_id
        self.status = 0  # none was begun
        self.size = 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            own = (_NAME, self._id.encode()), _VERSION
            message["headers"] = [*message.get("headers", ()), *own]
        elif message["type"] == "http.response.body":
            self.size += len(message.get("body", b""))
        await self._send(message)


def _line(scope: Scope, answered: _Answered, seconds: float) -> dict[str, Any]:
    """Return a line of the access log. What stands after the ``?`` is left out: it may be data."""
    caller = scope["state"].get("caller")
    client = scope.get("client")
    return {
        "method": scope["method"],
        "path": _shown(scope["path"]),
        "status": answered.status,
        "ms": round(1000 * seconds, 2),
        "bytes": answered.size,
        "from": client[0] if client else "",
        "user": getattr(caller, "user_id", ""),
        "key": getattr(caller, "key_id", ""),
    }


def _shown(path: str) -> str:
    """Return a path without the secret that some end in."""
    for start in _WITH_SECRETS:
        if path.startswith(start):
            return f"{start}..."
    return path


class _AccessLog(RotatingFileHandler):
    """An access log that is looked for before each line."""

    def emit(self, record: logging.LogRecord) -> None:
        if not self._is_there():
            self.close()
            Path(self.baseFilename).parent.mkdir(parents=True, exist_ok=True)
        super().emit(record)

    def _is_there(self) -> bool:
        if self.stream is None:
            return False
        with suppress(FileNotFoundError):
            opened = os.fstat(self.stream.fileno())
            return os.path.samestat(Path(self.baseFilename).stat(), opened)
        return False


def access_log(folder: Path) -> Note:
    """Return what writes lines of JSON to ``access.log`` in ``folder``.

    A log of 50 MB is put aside; the newest four of these are kept. Should somebody move or remove
    the log, the next line begins a new one.
    """
    handler = _AccessLog(
        folder / "access.log", maxBytes=_LARGEST, backupCount=_OLDER, encoding="utf-8", delay=True
    )
    handler.setFormatter(logging.Formatter("%(message)s"))
    lines = logging.Logger("easeml.access")
    lines.addHandler(handler)
    logger = structlog.wrap_logger(
        lines,
        processors=[
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.processors.JSONRenderer(),
        ],
    )
    return lambda **values: logger.info("request", **values)
