"""What this process, a task's, has used: processor, memory and disk."""

import os
import resource
import sys
from contextlib import suppress
from pathlib import Path

_WHOSE = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes of what the kernel counts memory in


def processor_seconds() -> float:
    """Return the processor seconds of this process and of its children that have ended."""
    used = map(resource.getrusage, _WHOSE)
    return sum(one.ru_utime + one.ru_stime for one in used)


def resident_bytes() -> int:
    """Return the bytes of memory that this process has; 0 where the kernel does not say (Linux does)."""
    with suppress(OSError):
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * resource.getpagesize()
    return 0


def peak_bytes() -> int:
    """Return the most bytes of memory that this process had, and besides the largest of its children
    that have ended.
    """
    return _UNIT * sum(resource.getrusage(whose).ru_maxrss for whose in _WHOSE)


def bytes_below(folder: Path, *, linked: bool = False) -> int:
    """Return the bytes of all files in a folder; with ``linked`` also of those that it links to."""
    total = 0
    for place, _, names in os.walk(folder, followlinks=linked):
        for name in names:
            with suppress(OSError):  # a link to nowhere, or it is gone
                total += (Path(place) / name).stat(follow_symlinks=linked).st_size
    return total
