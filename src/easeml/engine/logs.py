"""Logging of the engine's processes: one JSON object a line on standard error, which the supervisor
sends to a file.
"""

import os
import stat
from collections.abc import MutableMapping
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import structlog
from structlog.processors import ExceptionRenderer
from structlog.tracebacks import ExceptionDictTransformer

from easeml.ids import request_id

_OUTPUT, _ERRORS = 1, 2
_OPENED = Path("/proc/self/fd")  # of Linux: under which name each file was opened


class Lines:
    """A logger of structlog. A line is one write, so that other writers do not come between."""

    file: ClassVar[Path | None] = None
    """What standard error of this process is to be; ``None``: whatever it was given."""

    def __init__(self, *names: object):
        """``names``: of who logs, to whom all write alike."""

    def msg(self, line: str) -> None:
        """Write a line to standard error. That its disk is full does not end who logs."""
        return_to_log_file()
        with suppress(OSError):
            os.write(_ERRORS, f"{line}\n".encode())

    log = debug = info = warn = warning = error = critical = exception = msg


def configure_logging(kind: str, *, has_file: bool = False) -> None:
    """Log as ``kind`` (worker, scheduler, ...) from here on.

    ``has_file``: if standard error is a file, this process alone writes it. Should the file be
    moved or removed, the process goes on in a new one of the same name.
    """
    Lines.file = _file_of_errors() if has_file else None
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            name_request,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            ExceptionRenderer(
                ExceptionDictTransformer(show_locals=False)
            ),  # locals may hold users' data
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=Lines,
        cache_logger_on_first_use=True,
    )
    structlog.contextvars.bind_contextvars(process=kind)


def _file_of_errors() -> Path | None:
    """Return the path of the file that standard error is, if it is one that has a name."""
    if not stat.S_ISREG(os.fstat(_ERRORS).st_mode) or not _OPENED.exists():
        return None
    path = (_OPENED / str(_ERRORS)).readlink()
    return path if path.exists() else None


def return_to_log_file() -> None:
    """Open the log of this process anew, if its file was moved or removed, and that is possible."""
    path = Lines.file
    if path is None or _is(path, _ERRORS):
        return
    with suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        with path.open("ab") as file:
            if os.path.sameopenfile(_OUTPUT, _ERRORS):
                os.dup2(file.fileno(), _OUTPUT)
            os.dup2(file.fileno(), _ERRORS)


def _is(path: Path, number: int) -> bool:
    """Has an open file this name?"""
    with suppress(FileNotFoundError):
        return os.path.samestat(path.stat(), os.fstat(number))
    return False


def name_request(
    logger: Any, method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Put the id of the request that is being answered into a line that has none."""
    answered = request_id()
    if answered:
        event.setdefault("request", answered)
    return event
