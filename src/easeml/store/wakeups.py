"""Hints that something was committed, so that waiting processes look for work at once."""

import sys
import time
from collections.abc import Set
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import sqlalchemy as sa

from easeml.store.database import PATIENCE
from easeml.store.faults import database_is_away
from easeml.store.sqlite import driver
from easeml.store.transaction import CHANNEL, WORK_CHANNEL
from easeml.store.work_hints import ANY, NOTHING

if TYPE_CHECKING:
    import psycopg

_SHORTEST_PAUSE = 0.0005  # seconds
_LONGEST_PAUSE = 0.1
_BACKING_OFF = 1.3
_LOOK_EVERY = 0.005  # seconds, where the kernel does not tell of writes


class Wakeup(Protocol):
    """One waiter's view of the commits of all processes. For one thread at a time."""

    def wait(self, timeout: float) -> bool:
        """Wait up to ``timeout`` seconds; true if anything was committed since the last wait
        returned.
        """
        ...

    def close(self) -> None:
        """Stop listening."""
        ...


class WorkWakeup(Protocol):
    """A worker's view of the commits of all processes. For one thread at a time."""

    def wait(self, timeout: float) -> Set[str]:
        """Wait up to ``timeout`` seconds; return what was committed since the last wait returned may
        mean for workers, in the words of ``work_hints``; none where nothing was.
        """
        ...

    def close(self) -> None:
        """Stop listening."""
        ...


def open_work_wakeup(engine: sa.Engine) -> WorkWakeup:
    """Start listening for commits that concern workers on an engine's database."""
    if engine.dialect.name == "sqlite":
        return SqliteWorkWakeup(engine)
    return PostgresWorkWakeup(engine)


def open_wakeup(engine: sa.Engine) -> Wakeup:
    """Start listening for commits on an engine's database."""
    return SqliteWakeup(engine) if engine.dialect.name == "sqlite" else PostgresWakeup(engine)


class Writes(Protocol):
    """Tells of writes to the files of a folder."""

    def wait(self, seconds: float) -> bool:
        """Wait up to ``seconds``, or less; true if a file was written to since the last wait."""
        ...

    def close(self) -> None:
        """Stop watching."""
        ...


class NotedWrites:
    """The Linux kernel tells of writes (inotify), so that waiting takes no processor time."""

    def __init__(self, folder: Path):
        from inotify_simple import INotify, flags

        self._writes = INotify()
        self._writes.add_watch(folder, flags.MODIFY)

    def wait(self, seconds: float) -> bool:
        """See ``Writes.wait``."""
        return bool(self._writes.read(timeout=1000 * seconds))

    def close(self) -> None:
        """See ``Writes.close``."""
        self._writes.close()


class AssumedWrites:
    """Other systems: nobody tells, so that the waiter has to look again after a few milliseconds."""

    def wait(self, seconds: float) -> bool:
        """See ``Writes.wait``: never true, and never long."""
        time.sleep(min(seconds, _LOOK_EVERY))
        return False

    def close(self) -> None:
        """See ``Writes.close``."""


def watch_writes(folder: Path) -> Writes:
    """Return the best way that this system has to hear of writes."""
    return NotedWrites(folder) if sys.platform == "linux" else AssumedWrites()


class SqliteWakeup:
    """Asks SQLite for the number that changes with every commit, when its files are written to.

    On Linux a waiter that nobody writes for uses no processor time; polling alone would take some
    from every prediction.

    Args:
        engine: of the database.
        writes: tells when it is worth asking; the best way of this system by default.
    """

    def __init__(self, engine: sa.Engine, writes: Writes | None = None):
        database = Path(str(engine.url.database))
        self._connection = driver.connect(database, timeout=60, check_same_thread=False)
        self._writes = writes or watch_writes(database.parent)
        self._seen = self._version()

    def wait(self, timeout: float) -> bool:
        """See ``Wakeup.wait``."""
        end = time.monotonic() + timeout
        pause = _LONGEST_PAUSE
        while (version := self._version()) == self._seen:
            left = end - time.monotonic()
            if left <= 0:
                return False
            if pause < _LONGEST_PAUSE:
                # A write was seen: its commit will show when it has reached the disk.
                time.sleep(min(left, pause))
                pause *= _BACKING_OFF
            elif self._writes.wait(left):
                pause = _SHORTEST_PAUSE
        self._seen = version
        return True

    def close(self) -> None:
        """See ``Wakeup.close``."""
        self._writes.close()
        self._connection.close()

    def _version(self) -> int:
        return self._connection.execute("PRAGMA data_version").fetchone()[0]


class SqliteWorkWakeup:
    """SQLite says that something was committed, and not what: every commit may mean anything."""

    def __init__(self, engine: sa.Engine):
        self._wakeup = SqliteWakeup(engine)

    def wait(self, timeout: float) -> Set[str]:
        """See ``WorkWakeup.wait``."""
        return {ANY} if self._wakeup.wait(timeout) else NOTHING

    def close(self) -> None:
        """See ``WorkWakeup.close``."""
        self._wakeup.close()


class _Listener:
    """A connection that listens on a channel, and is opened again where it was lost."""

    def __init__(self, engine: sa.Engine, channel: str):
        self._channel = channel
        self._address = engine.url.set(drivername="postgresql").render_as_string(
            hide_password=False
        )
        self._query = engine.url.query
        self._connection = self._listen()

    def heard(self, timeout: float) -> list[str] | None:
        """Wait for what was sent, and return it; None where the connection was lost meanwhile.

        Raises ``DatabaseAway`` where it cannot be opened; the next wait tries it again.
        """
        import psycopg

        try:
            first = list(self._connection.notifies(timeout=timeout, stop_after=1))
            more = list(self._connection.notifies(timeout=0)) if first else []
        except psycopg.OperationalError:
            self._connection.close()
            self._connection = self._listen()
            return None
        return [one.payload for one in (*first, *more)]

    def close(self) -> None:
        """Stop listening."""
        self._connection.close()

    def _listen(self) -> "psycopg.Connection":
        import psycopg
        from psycopg import sql

        own: dict[str, Any] = {}
        for name, value in PATIENCE.items():
            if name not in self._query:  # what the URL says counts more
                own[name] = value
        try:
            connection = psycopg.connect(self._address, autocommit=True, **own)
            connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(self._channel)))
        except psycopg.OperationalError as error:
            raise database_is_away() from error
        return connection


class PostgresWakeup:
    """Listens for the notifications that writing transactions send as they commit."""

    def __init__(self, engine: sa.Engine):
        self._listener = _Listener(engine, CHANNEL)

    def wait(self, timeout: float) -> bool:
        """See ``Wakeup.wait``. A lost connection is opened again, and counts as a commit.

        Raises ``DatabaseAway`` where it cannot be opened; the next wait tries it again.
        """
        return self._listener.heard(timeout) != []

    def close(self) -> None:
        """See ``Wakeup.close``."""
        self._listener.close()


class PostgresWorkWakeup:
    """Listens for the words that writing transactions send to workers."""

    def __init__(self, engine: sa.Engine):
        self._listener = _Listener(engine, WORK_CHANNEL)

    def wait(self, timeout: float) -> Set[str]:
        """See ``WorkWakeup.wait``. A lost connection is opened again; anything may have been missed.

        Raises ``DatabaseAway`` as ``PostgresWakeup.wait`` does.
        """
        heard = self._listener.heard(timeout)
        if heard is None:
            return {ANY}
        return set(",".join(heard).split(",")) if heard else NOTHING

    def close(self) -> None:
        """See ``WorkWakeup.close``."""
        self._listener.close()
