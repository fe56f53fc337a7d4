"""Searches that cannot run: how long each has been so, until its owner has to be told."""

import time
from collections.abc import Callable

from easeml.service.search.waiting import Waiting

PATIENCE = 30.0  # seconds: a restart, or a change of limits, is over by then


class BlockedSearches:
    """Remembers since when each search waits for the same thing, and gives each once."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._due: dict[tuple[str, str], float] = {}  # by job and what it waits for

    def overdue(self, blocked: dict[str, Waiting]) -> dict[str, Waiting]:
        """Take what is blocked now; return what has been for too long and was not returned yet."""
        now = self._clock()
        found: dict[str, Waiting] = {}
        due: dict[tuple[str, str], float] = {}
        for job_id, waiting in blocked.items():
            key = (job_id, waiting.waits_for.value)
            due[key] = self._due.get(key, now + PATIENCE)
            if now >= due[key]:
                found[job_id] = waiting
                due[key] = float("inf")
        self._due = due
        return found
