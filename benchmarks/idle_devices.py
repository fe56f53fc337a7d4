"""Whether devices idle while work waits that they could do, looked at ten times a second."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from easeml.contract.states import (
    AttemptState,
    Lane,
    ProcessKind,
    ProcessState,
    TaskState,
)
from easeml.errors import EasemlError
from easeml.store import Store

LOOK_EVERY = 0.1  # seconds
LONGEST = 1.0  # seconds that a device may idle while work waits


@dataclass(frozen=True)
class Span:
    """A device idled for so many seconds, though work waited. ``after``: the fault before."""

    process: str
    seconds: float
    after: str


@dataclass
class IdleDevices:
    """Looks at the queue and the devices of a database.

    ``is_hindered``: whether a fault keeps a process (by its id) from working at the moment; what is
    killed or stands still is known without it. ``last``: the fault that came last.
    """

    store: Store
    is_hindered: Callable[[int], bool]
    last: Callable[[], str]
    spans: list[Span] = field(default_factory=list)
    looks: int = 0
    _since: dict[str, tuple[float, str]] = field(default_factory=dict)
    _is_over: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Look meanwhile."""
        thread = threading.Thread(target=self._run)
        thread.start()
        try:
            yield
        finally:
            self._is_over.set()
            thread.join()

    def look(self, now: float, idle: Sequence[str]) -> None:
        """Note which devices idle now, though work waits."""
        self.looks += 1
        for process in [one for one in self._since if one not in idle]:
            since, after = self._since.pop(process)
            self.spans.append(Span(process, now - since, after))
        for process in idle:
            self._since.setdefault(process, (now, self.last()))

    def _run(self) -> None:
        while not self._is_over.wait(LOOK_EVERY):
            began = time.monotonic()
            try:
                idle = self._idle()
            except EasemlError:  # the database is away: nobody could take anything
                idle = []
            took = time.monotonic() - began
            # A look that took long saw a database, or a machine, that stood still.
            self.look(began, idle if took < LONGEST else [])
        self.look(time.monotonic(), [])

    def _idle(self) -> list[str]:
        """Return the devices that could take what waits, and have taken nothing."""
        with self.store.read() as tx:
            tables = tx.unscoped()
            waiting = tables.tasks.count(lane=Lane.SEARCH, state=TaskState.WAITING, gpu=False)
            if not waiting:
                return []
            workers = tx.processes.list(
                kind=ProcessKind.WORKER, state=ProcessState.RUNNING, draining=False, limit=None
            )
            taken = dict(tables.attempts.pick("task_id", "process_id", state=AttemptState.RUNNING))
            searches = set(tables.tasks.column("id", lane=Lane.SEARCH, state=TaskState.RUNNING))
        busy = {process for task, process in taken.items() if task in searches}
        free = [worker for worker in workers if worker.id not in busy]
        return [one.id for one in free if runs(one.pid) and not self.is_hindered(one.pid)]


def runs(pid: int) -> bool:
    """Tell whether a process is there, and neither stopped nor dead."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "TtZX"


def ancestors(pid: int) -> list[int]:
    """Return a process and what started it, up to the first of all."""
    found = []
    while pid > 0:
        found.append(pid)
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            break
    return found
