"""Hints that something was committed, so that waiting processes look for work at once."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import sqlalchemy as sa
from inotify_simple import INotify, flags

from easeml.store.sqlite import driver
from easeml.store.transaction import CHANNEL

if TYPE_CHECKING:
    import psycopg

_SHORTEST_PAUSE = 0.0005  # seconds
_LONGEST_PAUSE = 0.1
_BACKING_OFF = 1.3


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


def open_wakeup(engine: sa.Engine) -> Wakeup:
    """Start listening for commits on an engine's database."""
    return SqliteWakeup(engine) if engine.dialect.name == "sqlite" else PostgresWakeup(engine)


class SqliteWakeup:
    """Asks SQLite for the number that changes with every commit, when the kernel says that its
    files are written to.

    A waiter that nobody writes for uses no processor time; polling alone would take some from every
    prediction.
    """

    def __init__(self, engine: sa.Engine):
        database = Path(str(engine.url.database))
        self._connection = driver.connect(database, timeout=60, check_same_thread=False)
        self._writes = INotify()
        self._writes.add_watch(database.parent, flags.MODIFY)
        self._seen = self._version()

    def wait(self, timeout: float) -> bool:
        """See ``Wakeup.wait``."""
        end = time.monotonic() + timeout
        pause = _LONGEST_PAUSE
        while (version := self._version()) == self._seen:
            left = end - time.monotonic()
            if left <= 0:
                return False
            if (
                pause < _LONGEST_PAUSE
            ):  # a write was seen: its commit will show when it has reached the disk
                time.sleep(min(left, pause))
                pause *= _BACKING_OFF
            elif self._writes.read(timeout=1000 * left):
                pause = _SHORTEST_PAUSE
        self._seen = version
        return True

    def close(self) -> None:
        """See ``Wakeup.close``."""
        self._writes.close()
        self._connection.close()

    def _version(self) -> int:
        return self._connection.execute("PRAGMA data_version").fetchone()[0]


class PostgresWakeup:
    """Listens for the notifications that writing transactions send as they commit."""

    def __init__(self, engine: sa.Engine):
        self._address = engine.url.set(drivername="postgresql").render_as_string(
            hide_password=False
        )
        self._connection = self._listen()

    def wait(self, timeout: float) -> bool:
        """See ``Wakeup.wait``. A lost connection is opened again, and counts as a commit."""
        import psycopg

        try:
            heard = any(True for _ in self._connection.notifies(timeout=timeout, stop_after=1))
            if heard:
                for _ in self._connection.notifies(timeout=0):
                    pass
        except psycopg.OperationalError:
            self._connection.close()
            self._connection = self._listen()
            return True
        return heard

    def close(self) -> None:
        """See ``Wakeup.close``."""
        self._connection.close()

    def _listen(self) -> "psycopg.Connection":
        import psycopg

        connection = psycopg.connect(self._address, autocommit=True)
        connection.execute(f"LISTEN {CHANNEL}")
        return connection
