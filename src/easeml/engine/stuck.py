"""A process that runs and does nothing: the supervisor kills it, and starts it again."""

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import structlog

from easeml.contract.states import ProcessState
from easeml.errors import EasemlError
from easeml.store import Store

from .managed_process import ManagedProcess
from .membership import this_host

_LOOK_EVERY = 3.0  # seconds
_SILENT_LEASES = 6  # so many leases without a heartbeat are no slow disk any more
_log = structlog.get_logger()


class Watch:
    """Tells whose heartbeats stopped while others' went on.

    Where all stopped, it is the database that stands still. Only changes are looked at, since the
    clock of the database may jump.
    """

    def __init__(self, silence: float, clock: Callable[[], float] = time.monotonic):
        """``silence``: seconds without a heartbeat after which a process is stuck."""
        self._silence = silence
        self._clock = clock
        self._came: dict[tuple[str, float], float] = {}  # when the last heartbeat of each came

    def stuck(self, heartbeats: Mapping[str, float]) -> set[str]:
        """Return the ids of those that are stuck, of all processes' heartbeats by id."""
        now = self._clock()
        self._came = {beat: self._came.get(beat, now) for beat in heartbeats.items()}
        silent = {process_id: now - came for (process_id, _), came in self._came.items()}
        is_database_well = min(silent.values(), default=math.inf) < self._silence / 2
        if not is_database_well:
            return set()
        return {process_id for process_id, seconds in silent.items() if seconds > self._silence}


def kill_stuck(store: Store, watch: Watch, processes: Sequence[ManagedProcess]) -> None:
    """Kill those of ``processes``, and of what they forked, that are stuck.

    Raises ``DatabaseAway``.
    """
    own = _with_forked([process.pid for process in processes if process.pid is not None])
    with store.read() as tx:
        running = tx.processes.list(state=ProcessState.RUNNING, limit=None)
        # The scheduler has taken a silent one for ended by now; and a number may come again.
        known = tx.processes.list(host=this_host(), pid=sorted(own), limit=None)
    newest = {one.pid: one for one in known}
    stuck = watch.stuck({one.id: one.heartbeat for one in [*running, *newest.values()]})
    for one in newest.values():
        if one.id in stuck:
            _log.warning("process is stuck, and killed", kind=one.kind, pid=one.pid)
            os.kill(one.pid, signal.SIGKILL)


def _with_forked(pids: Sequence[int]) -> set[int]:
    """Return process ids, and those of their children where the system tells them (Linux)."""
    found = set(pids)
    for pid in pids:
        with suppress(OSError):  # it ended, or this system has no such file
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text()
            found.update(map(int, children.split()))
    return found


def watch_beside(store: Store, lease_seconds: float, processes: Sequence[ManagedProcess]) -> None:
    """Look after ``processes`` in a thread of its own: a database that hangs must not stop others."""
    watch = Watch(_SILENT_LEASES * lease_seconds)

    def look() -> None:
        while True:
            time.sleep(_LOOK_EVERY)
            with suppress(EasemlError, ProcessLookupError):
                kill_stuck(store, watch, processes)

    threading.Thread(target=look, name="watch-stuck", daemon=True).start()
