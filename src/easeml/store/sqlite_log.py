"""The log of a SQLite database (``-wal``) and the index of this (``-shm``), where somebody removes
them while easeml runs.

Connections go on with the files that they opened, though these have no names any more. All that was
committed since the last checkpoint would be lost with the last of them, and who connects then makes
other files: both would write into the database, each without knowing of the other.
"""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from easeml.errors import DatabaseAway

_LOCKS = Path("/proc/locks")
_REMOVED = " (deleted)"  # what Linux adds to the name
_WAIT_MS = 1000  # for those who read from the log at this moment
_LOOKS, _PAUSE = 20, 0.05  # and for those who close it: times, seconds between


@dataclass(frozen=True)
class LogFiles:
    """The files that a connection has opened beside the database; ``None``: none was there.

    ``number``: how many times files were left before, as they had been removed.
    """

    log: os.stat_result | None
    index: os.stat_result | None
    number: int


class SqliteLog:
    """The names of the log and of its index beside a database, and what they mean now."""

    def __init__(self, database: Path):
        self._database = database
        self._log = f"{database}-wal"
        self._index = f"{database}-shm"
        self._usual: LogFiles | None = None
        self._times_left = 0

    def opened(self) -> LogFiles:
        """Return which files a connection has opened that has just read."""
        self._usual = LogFiles(_file(self._log), _file(self._index), self._times_left)
        return self._usual

    def leave(self) -> None:
        """Note that nobody shall use the files that were opened until now."""
        self._times_left += 1

    def is_left(self, files: LogFiles) -> bool:
        """Were these files left?"""
        return files.number < self._times_left

    def is_there(self, files: LogFiles) -> bool:
        """Are these the files that the names mean?"""
        return _means(self._log, files.log) and _means(self._index, files.index)

    def check_connect(self) -> None:
        """Raise ``DatabaseAway`` where another connection, of any process, has changes in a log that
        was removed: who connects now would not see them.

        All connections of a process share its index. Where that was removed, all have to end first.
        """
        usual = self._usual
        if usual is not None and not self.is_left(usual) and self.is_there(usual):
            return
        if usual is not None and not _LOCKS.exists():
            raise _removed()  # no Linux: nobody knows who has changes
        # The last of all connections removes both files itself, a moment before it closes them.
        for _ in range(_LOOKS):
            if not self._is_held():
                return
            time.sleep(_PAUSE)
        raise _removed()

    def _is_held(self) -> bool:
        """Does anybody go on with a log or an index that has no name any more?"""
        if any(_removed_files("self", self._index)) and _is_open_here(self._database):
            return True
        return any(map(self._keeps_changes, _holders(self._database)))

    def check(self, files: LogFiles) -> None:
        """Raise ``DatabaseAway`` where the files that a connection has opened were removed."""
        if not self.is_there(files):
            raise _removed()

    def save(self, connection: Any, files: LogFiles) -> None:
        """Write what is in a removed log into the database, so that all can connect anew.

        Args:
            connection: of the driver, outside of transactions, which has the log open.
            files: those that it has opened.

        Raises ``DatabaseAway`` where another log is in its place, or somebody reads from it still.
        """
        if not _LOCKS.exists():
            raise _removed()
        if _means(self._log, files.log):
            self._empty(connection)
            # Others, who know the old index, must not go on with this log.
            if _means(self._log, files.log):
                Path(self._log).unlink(missing_ok=True)
            return
        if files.log is None or not _size_here(files.log):
            return  # another process was faster
        if (other := _file(self._log)) is not None and other.st_size:
            raise _replaced()
        self._empty(connection)

    def _empty(self, connection: Any) -> None:
        """Write all changes of the log that a connection has open into the database."""
        (usual,) = connection.execute("PRAGMA busy_timeout").fetchone()
        connection.execute(f"PRAGMA busy_timeout={_WAIT_MS}").close()
        try:
            is_busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            connection.execute(f"PRAGMA busy_timeout={usual}").close()
        if is_busy:
            raise _removed()

    def _keeps_changes(self, pid: str) -> bool:
        """Has a process changes in a log, or by an index, that has no name?"""
        logs = list(_removed_files(pid, self._log))
        if logs:
            return any(one.st_size for one in logs)
        return any(_removed_files(pid, self._index))


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


def _size_here(wanted: os.stat_result) -> int:
    """Return the bytes of a file without a name that this process has open; 0: it has none."""
    for path in _open_files("self"):
        found = _file(path)
        if found is not None and os.path.samestat(found, wanted):
            return found.st_size
    return 0


def _holders(database: Path) -> set[str]:
    """Return the ids of processes that have locks on a database: all that are connected."""
    file = _file(database)
    if file is None:
        return set()
    try:
        lines = _LOCKS.read_text().splitlines()
    except OSError:  # no Linux
        return set()
    held = [line.split() for line in lines if f":{file.st_ino} " in line]
    return {words[words.index("POSIX") + 3] for words in held if "POSIX" in words}


def _is_open_here(database: Path) -> bool:
    """Has this process the file open that a database is now, and not one that was there before?"""
    file = _file(database)
    if file is None:
        return False
    opened = filter(None, map(_file, _open_files("self")))
    return any(os.path.samestat(one, file) for one in opened)


def _removed_files(pid: str, name: str) -> Iterator[os.stat_result]:
    """Give the files that a process has open, and which had this name when they lost it."""
    path = Path(name).resolve()
    for place in _open_files(pid):
        with suppress(OSError):
            if not _lost_name(str(place.readlink()), path):
                continue
            if (found := _file(place)) is not None:
                yield found


def _lost_name(now: str, path: Path) -> bool:
    """Was a file at ``path``, which is removed (``now`` says so) or moved?"""
    if now.endswith(_REMOVED):
        return now == f"{path}{_REMOVED}"
    place = Path(now)
    if place == path or not place.name.startswith(path.name):
        return False
    other_database = place.with_name(path.name[:-4])  # whose log has the same name
    return place.parent == path.parent or not other_database.exists()


def _open_files(pid: str) -> Iterator[Path]:
    with suppress(OSError):  # it has ended, or is of another user
        yield from Path(f"/proc/{pid}/fd").iterdir()


def _removed() -> DatabaseAway:
    return DatabaseAway(
        "The log of the database (easeml.db-wal and -shm) was removed while easeml runs.",
        remedy="Try again in a few seconds: what it holds is written into the database first.",
    )


def _replaced() -> DatabaseAway:
    return DatabaseAway(
        "The log of the database (easeml.db-wal) was replaced by another one while easeml runs.",
        remedy="The provider has to stop easeml, which writes what its own log holds into the "
        "database, and to start it again.",
    )
