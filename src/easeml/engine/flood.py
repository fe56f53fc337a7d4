"""What a child may not exceed, and the kernel does not bound: files and processes."""

import time
from contextlib import suppress
from pathlib import Path

from easeml.folders import holds_more

LOOK_EVERY = 0.25  # seconds
MOST_FILES = 1_000_000
MOST_PROCESSES = 256
_LEAST_SHARE = 20  # a look takes a twentieth of the time at most, however many files there are


class FloodWatch:
    """Looks at a child that may fill the disk, or start processes that start processes."""

    def __init__(self, pid: int, folder: Path, disk: int):
        """``folder``: where it writes, at most ``disk`` bytes."""
        self._pid = pid
        self._folder = folder
        self._disk = disk
        self.pause = LOOK_EVERY
        """Seconds until the next look is due."""

    def fault(self) -> str:
        """Return what the child did too much of, in words; nothing where it did not."""
        began = time.monotonic()
        found = self._found()
        self.pause = max(LOOK_EVERY, _LEAST_SHARE * (time.monotonic() - began))
        return found

    def _found(self) -> str:
        if holds_more(self._folder, self._disk, MOST_FILES):
            return f"wrote more than {self._disk / 2**20:,.0f} MiB, or {MOST_FILES:,} files"
        if has_more_descendants(self._pid, MOST_PROCESSES):
            return f"started more than {MOST_PROCESSES} processes"
        return ""


def has_more_descendants(pid: int, most: int) -> bool:
    """Whether more than so many processes descend from one (Linux; elsewhere none are seen)."""
    waiting = [str(pid)]
    seen = 0
    while waiting and seen <= most:
        children = _children(waiting.pop())
        seen += len(children)
        waiting += children
    return seen > most


def _children(pid: str) -> list[str]:
    """Return the children of all threads of a process, as far as it is there."""
    found: list[str] = []
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            found += (thread / "children").read_text().split()
    return found
