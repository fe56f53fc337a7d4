"""Requests to endpoints on their way into the log: taken without waiting, written by others.

What was answered in the last second, and has not been written, is lost if the controller is
killed. What is too long, or comes faster than it is written, is not kept, but counted.
"""

import threading
import time
from collections import Counter
from functools import partial

import structlog

from easeml.api.log_writer import Keep
from easeml.service.production import request_log
from easeml.service.production.request_log import LARGEST, Seen
from easeml.store import Store

SECONDS = 1.0  # between two writes
_MOST = 1000  # requests that wait
_MOST_BYTES = 64 * 2**20  # of these and their answers together
_MANY = 400  # from so many on they are written at once
_log = structlog.get_logger()


class RequestLog:
    """Takes what was answered; a thread hands it on. The thread starts with the first request."""

    def __init__(self, store: Store, keep: Keep | None = None):
        """``keep``: writes what is to be kept; by default it is written here."""
        self._store = store
        self._keep = keep or partial(request_log.keep, store)
        self._waiting: list[Seen] = []
        self._waiting_bytes = 0
        self._missed: Counter[str] = Counter()  # requests that were not taken, by application
        self._unwanted: dict[str, float] = {}  # until when an application is not asked about
        self._news, self._closed = threading.Event(), threading.Event()
        self._hurry = threading.Event()  # many wait
        self._writing = threading.Lock()
        self._counting = threading.Lock()  # of what waits
        self._thread: threading.Thread | None = None

    def takes(self, application_id: str) -> bool:
        """Might requests to an application be kept? It is asked anew once a second."""
        return time.monotonic() >= self._unwanted.get(application_id, 0.0)

    def note(self, seen: Seen) -> None:
        """Take a request that was answered; costs the same whatever is in it."""
        with self._counting:
            if self._has_room(seen):
                self._waiting.append(seen)
                self._waiting_bytes += _bytes_of(seen)
            else:
                self._missed[seen.application_id] += 1
        if len(self._waiting) >= _MANY:
            self._hurry.set()
        self._news.set()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="request-log", daemon=True)
            self._thread.start()

    def _has_room(self, seen: Seen) -> bool:
        if max(len(seen.body), len(seen.answer)) > LARGEST or len(self._waiting) >= _MOST:
            return False
        return self._waiting_bytes + _bytes_of(seen) <= _MOST_BYTES

    def flush(self) -> None:
        """Write what waits."""
        with self._writing:
            with self._counting:
                seen = list(self._waiting)
                self._waiting.clear()
                self._waiting_bytes = 0
                missed, self._missed = self._missed, Counter()
            asked = {one.application_id for one in seen} | missed.keys()
            if not asked:
                return
            keeping = request_log.keeping(self._store, asked)
            until = time.monotonic() + SECONDS
            self._unwanted = dict.fromkeys(asked - keeping, until)
            if keeping:
                wanted = [one for one in seen if one.application_id in keeping]
                self._keep(wanted, missed)

    def close(self) -> None:
        """Write what waits, and end the thread."""
        self._closed.set()
        self._news.set()
        self._hurry.set()
        if self._thread is not None:
            self._thread.join()
        self.flush()

    def _run(self) -> None:
        while not self._closed.is_set():
            self._news.wait()
            self._news.clear()
            self._hurry.wait(SECONDS)
            self._hurry.clear()
            try:
                self.flush()
            except Exception:  # the log must not end with one request that cannot be read
                _log.exception("requests were not kept")


def _bytes_of(seen: Seen) -> int:
    return len(seen.body) + len(seen.answer)
