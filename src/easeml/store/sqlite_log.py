"""The log of a SQLite database (``-wal``) and the index of this (``-shm``), where somebody removes
them while easeml runs.

Connections go on with the files that they opened, though these have no names any more. All that was
committed since the last checkpoint would be lost with the last of them, and who connects then makes
other files: both would write into the database, each without knowing of the other.

So both files have a second name, a hidden one, and get their first one back from it.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from easeml.errors import DatabaseAway
from easeml.ids import new_id
from easeml.sqlite import driver

_HEAD, _FRAME_HEAD = 32, 24  # bytes of a log, and of each page in it, beside the pages


LogFiles = tuple[os.stat_result | None, os.stat_result | None]
"""The log and the index that a connection has opened; ``None``: none was there."""


class SqliteLog:
    """The names of the log and of its index beside a database, and what they mean now."""

    def __init__(self, database: Path):
        self._names = (f"{database}-wal", f"{database}-shm")
        hidden = database.with_name(f".{database.name}")
        self._hidden = (f"{hidden}-wal", f"{hidden}-shm")
        self._length = 0  # bytes of the log, when it was looked at last

    def check_connect(self) -> None:
        """Give files that somebody uses their names back: who connects now would make others.

        Raises ``DatabaseAway`` where that cannot be.
        """
        for name, hidden in zip(self._names, self._hidden, strict=True):
            kept = _file(hidden)
            if kept is not None and not _means(name, kept) and _used([kept]):
                _put_back(name, hidden, kept)

    def opened(self) -> LogFiles:
        """Return which files a connection has opened that has just read; they get second names.

        Raises ``DatabaseAway`` where others go on with a file that has lost its name.
        """
        self.check_connect()
        for name, hidden in zip(self._names, self._hidden, strict=True):
            _keep(name, hidden)
        log, index = self._names
        return _file(log), _file(index)

    def check(self, files: LogFiles, least: int = 0) -> None:
        """Give the files that a connection has opened their names back, where they lost them.

        Raises ``DatabaseAway`` where that cannot be, and where the log has fewer bytes than
        ``least``: those that it had when a change got its turn, as nobody empties it then.
        """
        for name, hidden, opened in zip(self._names, self._hidden, files, strict=True):
            if not _means(name, opened):
                _put_back(name, hidden, opened)
        if self.size() < least:
            raise _cut_off()

    def check_begin(self, files: LogFiles, connection: Any) -> None:
        """Do so before a transaction. Raises ``DatabaseAway`` also where the log was cut off before.

        Args:
            files: which the connection has opened.
            connection: of the driver.
        """
        self.check(files)
        length = self.size()
        is_usual = 0 < self._length <= length
        if not is_usual and self._is_cut_off(connection) and self._is_cut_off(connection):
            raise _cut_off()
        self._length = length

    def forget(self) -> None:
        """Remove the second names of files that SQLite has removed, as nobody was connected."""
        names = zip(self._names, self._hidden, strict=True)
        nameless = [hidden for name, hidden in names if _file(name) is None]
        kept = {hidden: file for hidden in nameless if (file := _file(hidden)) is not None}
        used = _used(kept.values())
        for hidden, file in kept.items():
            if _identity(file) not in used:
                Path(hidden).unlink(missing_ok=True)

    def size(self) -> int:
        """Return the bytes of the log."""
        found = _file(self._names[0])
        return 0 if found is None else found.st_size

    def _is_cut_off(self, connection: Any) -> bool:
        """Has the log fewer bytes than the pages need that its index counts?"""
        try:
            _, pages, _ = connection.execute("PRAGMA wal_checkpoint(NOOP)").fetchone()
            size = self.size()
            if pages <= 0 or size < _HEAD:
                return pages > 0
            (page_size,) = connection.execute("PRAGMA page_size").fetchone()
        except driver.OperationalError:  # what follows is told why
            return False
        return size < _HEAD + pages * (_FRAME_HEAD + page_size)


def _file(path: Path | str) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116 - with each transaction: a Path takes twice the time
    except OSError:
        return None


def _means(path: str, opened: os.stat_result | None) -> bool:
    """Does a name mean the file that was opened, if any was?"""
    if opened is None:
        return True
    now = _file(path)
    return now is not None and os.path.samestat(now, opened)


def _keep(name: str, hidden: str) -> None:
    """Let a file have a second name, where the file system knows such."""
    file = _file(name)
    if file is None or _means(hidden, file):
        return
    with suppress(OSError):
        _link(name, hidden)


def _put_back(name: str, hidden: str, opened: os.stat_result | None) -> None:
    """Let a file have its first name again. Raises ``DatabaseAway`` where that is another's now.

    A log without changes is in nobody's way, and an index can be made anew.
    """
    if not _means(hidden, opened):
        raise _removed()
    other = _file(name)
    if other is not None and other.st_size and name.endswith("-wal"):
        if not _means(name, opened):  # else another process was faster
            raise _replaced()
        return
    try:
        _link(hidden, name)
    except OSError as error:
        raise _removed() from error


def _link(path: str, further: str) -> None:
    """Let a file have a further name, at once, in the place of what has that name."""
    passing = Path(f"{path}.{new_id('new')}")
    passing.hardlink_to(path)
    try:
        passing.replace(further)
    finally:
        passing.unlink(missing_ok=True)  # which stays where both name one file already


_Identity = tuple[int, int]
"""The device of a file, and its number there."""


def _identity(file: os.stat_result) -> _Identity:
    return file.st_dev, file.st_ino


def _used(files: Iterable[os.stat_result]) -> set[_Identity]:
    """Return which of some files any process has open, as far as this one may know."""
    asked = set(map(_identity, files))
    if not asked:
        return asked
    return asked.intersection(_open_files())


def _open_files() -> Iterator[_Identity]:
    """Yield the files that all processes have open: thousands, so each is looked at in few steps."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended, or is of another user
            yield from _opened_by(process)


def _opened_by(process: Path) -> Iterator[_Identity]:
    with os.scandir(process / "fd") as opened:
        for one in opened:
            with suppress(OSError):  # it was closed meanwhile
                yield _identity(one.stat())


def _removed() -> DatabaseAway:
    return DatabaseAway(
        "The log of the database (easeml.db-wal and -shm) was removed while easeml runs.",
        remedy="The provider has to stop easeml (easeml down), which writes what the log holds "
        "into the database, and to start it again.",
    )


def _replaced() -> DatabaseAway:
    return DatabaseAway(
        "The log of the database (easeml.db-wal) was replaced by another one while easeml runs.",
        remedy="The provider has to remove that one, and easeml puts its own back.",
    )


def _cut_off() -> DatabaseAway:
    return DatabaseAway(
        "The log of the database (easeml.db-wal) was cut off while easeml runs: what was changed "
        "last is lost.",
        remedy="The provider has to stop easeml, and to start it again, or to restore the newest "
        "backup (easeml restore) where that is newer than easeml.db.",
    )
