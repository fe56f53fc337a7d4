"""The folder in which ``train`` leaves what the next attempt goes on from."""

import os
import stat
import time
from dataclasses import dataclass, field
from pathlib import Path

from easeml.errors import TooLarge
from easeml.folders import whole_file

FOLDER = "checkpoint"
LARGEST = 64 * 2**20
"""Bytes of all files that are kept."""
_EVERY = 0.1  # seconds
_States = dict[str, tuple[int, int]]
"""Bytes and time of files, as they were when they were copied."""


@dataclass(slots=True)
class Kept:
    """A folder that is copied again and again, at most ten times a second: who writes it may print
    millions of lines.
    """

    source: Path
    target: Path
    _next: float = 0.0
    _known: _States = field(default_factory=_States)

    def follow(self) -> list[str]:
        """Copy what has changed, if it is time to; return the names of these files."""
        if time.monotonic() < self._next:
            return []
        copied = copy_files(self.source, self.target, self._known)
        self._next = time.monotonic() + _EVERY
        return copied


def copy_files(source: Path, target: Path, known: _States | None = None) -> list[str]:
    """Copy the plain files of a folder that are new or changed into another, each as a whole; return
    their names.

    Whoever may write ``source`` cannot have anything else copied: links and folders are left out.
    Nothing is copied where there is no such folder. ``known``: what was copied before, which is
    noted there: a confined process cannot give a copy the time of its file. Raises ``TooLarge`` for
    more than ``LARGEST`` bytes.
    """
    try:
        place = os.open(source, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return []
    copied: list[str] = []
    states = _States() if known is None else known
    most = LARGEST
    try:
        for name in sorted(os.listdir(place)):  # noqa: PTH208 an open folder
            most -= _copy_file(place, name, target, most, states, copied)
    finally:
        os.close(place)
    return copied


def _copy_file(
    place: int, name: str, target: Path, most: int, known: _States, copied: list[str]
) -> int:
    """Copy a file of an open folder if it changed; return its bytes."""
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(name, flags, dir_fd=place)
    except OSError:
        return 0  # a link, or it was taken away
    told = os.fstat(descriptor)
    if not stat.S_ISREG(told.st_mode):
        os.close(descriptor)
        return 0
    with os.fdopen(descriptor, "rb") as file:
        if told.st_size > most:
            raise TooLarge("There is more in the folder than may be kept.", where=name)
        state = (told.st_size, told.st_mtime_ns)
        if known.get(name) == state or _is_copied(target / name, told):
            return told.st_size
        target.mkdir(parents=True, exist_ok=True)
        with whole_file(target / name) as part:
            part.write_bytes(file.read(told.st_size))
            os.utime(part, ns=(told.st_atime_ns, told.st_mtime_ns))
        known[name] = state
        copied.append(name)
        return told.st_size


def _is_copied(path: Path, told: os.stat_result) -> bool:
    if not path.is_file():
        return False
    known = path.stat()
    return (known.st_size, known.st_mtime_ns) == (told.st_size, told.st_mtime_ns)
