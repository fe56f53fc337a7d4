"""Requests to endpoints on their way into the log: taken without waiting, written by a thread.

What was answered in the last half second, and has not been written, is lost if the controller is
killed. What is too long, or comes faster than it is written, is not kept, but counted.
"""

import threading
import time
from collections import Counter, deque

import structlog

from easeml.service.production import request_log
from easeml.service.production.request_log import LARGEST, Seen
from easeml.store import Store

SECONDS = 0.5  # between two writes
_MOST = 1000  # requests that wait; each has at most 128 KiB
_log = structlog.get_logger()


class RequestLog:
    """Takes what was answered; a thread writes it. The thread starts with the first request."""

    def __init__(self, store: Store):
        self._store = store
        self._waiting: deque[Seen] = deque()
        self._missed: Counter[str] = Counter()  # requests that were not taken, by application
        self._unwanted: dict[str, float] = {}  # until when an application is not asked about
        self._news, self._closed = threading.Event(), threading.Event()
        self._writing = threading.Lock()
        self._thread: threading.Thread | None = None

    def note(self, seen: Seen) -> None:
        """Take a request that was answered; costs the same whatever is in it."""
        if time.monotonic() < self._unwanted.get(seen.application_id, 0.0):
            return
        is_long = len(seen.body) > LARGEST or len(seen.answer) > LARGEST
        if is_long or len(self._waiting) >= _MOST:
            self._missed[seen.application_id] += 1
        else:
            self._waiting.append(seen)
        self._news.set()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="request-log", daemon=True)
            self._thread.start()

    def flush(self) -> None:
        """Write what waits."""
        with self._writing:
            seen = []
            while self._waiting:
                seen.append(self._waiting.popleft())
            missed, self._missed = self._missed, Counter()
            if seen or missed:
                unwanted = request_log.keep(self._store, seen, missed)
                until = time.monotonic() + SECONDS
                self._unwanted = dict.fromkeys(unwanted, until)

    def close(self) -> None:
        """Write what waits, and end the thread."""
        self._closed.set()
        self._news.set()
        if self._thread is not None:
            self._thread.join()
        self.flush()

    def _run(self) -> None:
        while not self._closed.is_set():
            self._news.wait()
            self._news.clear()
            self._closed.wait(SECONDS)
            try:
                self.flush()
            except Exception:  # the log must not end with one request that cannot be read
                _log.exception("requests were not kept")
