"""Retention beside the scheduler: every ten minutes a look at what nobody needs any more, and what
was written is brought into the file of the database.
"""

import threading
import time
from dataclasses import dataclass, field

import structlog

from easeml.service.retention import looks, retention
from easeml.settings import Settings
from easeml.store import Store

_EVERY = 600.0  # seconds between looks
_SLACK = 60.0  # seconds by which two clocks may differ between two looks
_log = structlog.get_logger()


@dataclass
class SteadyClock:
    """Tells whether the time of day went on since the last look as a clock does that nobody sets.

    All that goes is judged by its age. After a jump everything may look old.
    """

    _last: tuple[float, float] | None = field(default=None, init=False)

    def is_steady(self, now: float, ticks: float) -> bool:
        """``now``: seconds of the epoch; ``ticks``: of a clock that cannot be set."""
        before, self._last = self._last, (now, ticks)
        if before is None:
            return False
        return abs((now - before[0]) - (ticks - before[1])) <= _SLACK


class Retaining:
    """Looks in a thread of its own; of several schedulers one at a time.

    The first look of a process, and one after the clock was set, only remember the time.
    """

    def __init__(self, store: Store, settings: Settings, holder: str):
        self._store = store
        self._settings = settings
        self._holder = holder
        self._clock = SteadyClock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="retention", daemon=True)

    def start(self) -> None:
        """Look from now on."""
        self._thread.start()

    def close(self) -> None:
        """Look no more; a look that is under way may be cut off, which does no harm."""
        self._ended.set()
        self._thread.join(timeout=1.0)

    def look(self) -> None:
        """Let go what nobody needs, where the clock is steady and no other is about it.

        What was written meanwhile is brought into the file of the database first.
        """
        self._store.settle()
        with self._store.read() as tx:
            now = tx.now()
        if not self._clock.is_steady(now, time.monotonic()):
            return
        with retention.alone(self._store, self._holder) as is_alone:
            if is_alone:
                found = looks.look(self._store, self._settings)
                if found.amounts:
                    _log.info("let go what nobody needs", bytes=found.size)

    def _run(self) -> None:
        while True:
            try:
                self.look()
            except Exception:
                # Whatever it is, space is not worth the scheduler; the next look tries again.
                _log.exception("retention did not come to its end")
            if self._ended.wait(_EVERY):
                return
