"""How often a task is looked at, so that it hardly becomes slower."""

import time
from collections.abc import Callable
from dataclasses import dataclass

SHARE = 0.01
"""What looks may take of the processor seconds that the task takes itself.

Beside that, the interpreter changes threads twice a look, which the task pays.
"""

LONGEST = 0.5  # seconds between two looks, at most
_FORGIVEN_AFTER = 10.0  # seconds; a task that waited owes nothing when it works again
_SLOWEST = 0.01  # processor seconds a second that a task is taken to have at least


@dataclass(frozen=True, slots=True)
class _Clocks:
    """Seconds: of the day, of the processor for the looks, and for the whole process."""

    now: float
    looks: float
    process: float


def read_clocks() -> _Clocks:
    """Return the clocks as the thread that looks has them."""
    return _Clocks(time.monotonic(), time.thread_time(), time.process_time())


class Pace:
    """Says how long to wait until the next look. Used by the thread that looks."""

    def __init__(self, clocks: Callable[[], _Clocks] = read_clocks):
        self._clocks = clocks
        self._began = clocks()

    def pause(self, shortest: float) -> float:
        """Return seconds, from ``shortest`` to ``LONGEST``.

        On a busy machine a task has few processor seconds in a second, and is looked at less often.
        """
        now, began = self._clocks(), self._began
        looks = now.looks - began.looks
        task = now.process - began.process - looks
        elapsed = now.now - began.now
        owed = looks / SHARE - task
        speed = max(task / elapsed, _SLOWEST) if elapsed > 0 else _SLOWEST
        if elapsed > _FORGIVEN_AFTER:
            self._began = now
        return max(shortest, min(owed / speed, LONGEST))
