"""How much memory the processes of a running easeml take: what benchmarks of load share."""

import resource
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from service_process import EasemlProcess

KINDS = ("controller", "scheduler", "predictor", "worker")
_MIB = 2**20


def processes_by_kind(easeml: EasemlProcess) -> list[tuple[str, int]]:
    """Return kind and process id of each running process of an easeml."""
    told = easeml.call("GET", "/api/v1/status")["processes"]
    return [(one["kind"], one["pid"]) for one in told if Path(f"/proc/{one['pid']}").exists()]


def _all_there(easeml: EasemlProcess) -> list[tuple[str, int]]:
    """Return the processes once each kind of them has said that it is there."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = processes_by_kind(easeml)
        if {kind for kind, _ in found} >= set(KINDS):
            return found
        time.sleep(0.25)
    raise TimeoutError("not all processes are there")


def resident(pid: int) -> float:
    """Return the MiB of resident memory of a process and its descendants; 0 when it is gone."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        threads = list(Path(f"/proc/{pid}/task").iterdir())
        children = [child for one in threads for child in (one / "children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    own = pages * resource.getpagesize() / _MIB
    return own + sum(resident(int(child)) for child in children)


def proportional(pid: int) -> float:
    """Return the MiB of a process and its descendants, of shared pages a part in each of them.

    The kernel walks all pages for it: ask seldom.
    """
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        threads = list(Path(f"/proc/{pid}/task").iterdir())
        children = [child for one in threads for child in (one / "children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    own = next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
    return own / 1024 + sum(proportional(int(child)) for child in children)


class MemoryWatch(threading.Thread):
    """Looks at all processes of an easeml every so many seconds.

    ``now`` has MiB by kind as they are, ``most`` the most that was seen of each. By ``resident``
    a page that processes share counts in each of them.
    """

    def __init__(
        self,
        easeml: EasemlProcess,
        seconds: float = 0.1,
        measure: Callable[[int], float] = resident,
    ):
        super().__init__(daemon=True)
        self._processes = _all_there(easeml)
        self._seconds = seconds
        self._measure = measure
        self._over = threading.Event()
        self.now: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self._look()
        self.first = Counter(self.now)

    def run(self) -> None:
        while not self._over.wait(self._seconds):
            self._look()

    def stop(self) -> None:
        """Look no more."""
        self._over.set()
        self.join()

    def _look(self) -> None:
        seen: Counter[str] = Counter()
        for kind, pid in self._processes:
            seen[kind] += round(self._measure(pid))
        self.now = seen
        self.most |= seen
