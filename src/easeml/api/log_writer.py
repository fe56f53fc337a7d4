"""A process that writes the log of requests: reading their rows takes no time from answers.

It is started with the first request that is to be kept, and ends with its controller.
"""

import os
import signal
from collections import Counter
from collections.abc import Callable
from multiprocessing import get_context
from typing import Any

from easeml.errors import EasemlError
from easeml.service.production import request_log
from easeml.service.production.request_log import Seen
from easeml.settings import Settings
from easeml.store import Store

Keep = Callable[[list[Seen], Counter[str]], None]
"""Keeps requests, and counts those that were not taken, by application; raises what goes wrong."""

_context = get_context("spawn")  # nothing of the controller: no thread, no lock, no connection
_LEAVE_SECONDS = 5.0
_NICE = 19  # answers come first


class LogWriter:
    """Keeps requests by a process of its own; one thread at a time may ask it."""

    def __init__(self, settings: Settings):
        self._settings = settings
        self._connection: Any = None  # a Connection, typed differently by system

    def keep(self, seen: list[Seen], not_taken: Counter[str]) -> None:
        """Keep requests; returns when they are written.

        Raises ``EasemlError`` where that failed, also where the process has ended: the next call
        starts another one.
        """
        connection = self._connected()
        try:
            connection.send((seen, not_taken))
            fault = connection.recv()
        except (EOFError, OSError) as error:
            self.close()
            raise EasemlError("The process that keeps requests has ended.") from error
        if fault:
            raise EasemlError(f"Requests were not kept: {fault}")

    def close(self) -> None:
        """Let the process end; it has written all that it was given."""
        if self._connection is None:
            return
        self._connection.close()
        self._connection = None
        self._process.join(_LEAVE_SECONDS)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()

    def _connected(self) -> Any:
        if self._connection is None:
            ours, theirs = _context.Pipe()
            self._process = _context.Process(
                target=_write, args=(theirs, self._settings), name="log-writer", daemon=True
            )
            self._process.start()
            theirs.close()
            self._connection = ours
        return self._connection


def _write(connection: Any, settings: Settings) -> None:
    """Write what comes, until the controller closes."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)  # the controller says when it is over
    os.nice(_NICE)
    store = Store.found(settings)
    try:
        while True:
            seen, not_taken = connection.recv()
            connection.send(_fault(store, seen, not_taken))
    except (EOFError, OSError):
        return
    finally:
        store.close()


def _fault(store: Store, seen: list[Seen], not_taken: Counter[str]) -> str:
    """Keep requests; return what went wrong, empty where nothing did."""
    try:
        request_log.keep(store, seen, not_taken)
    except Exception as error:  # the log must not end with one request that cannot be written
        return f"{type(error).__name__}: {error}"
    return ""
