"""Hints that something was committed, so that waiting processes look for work at once."""

import sqlite3
import time
from typing import TYPE_CHECKING, Protocol

import sqlalchemy as sa

from easeml.store.transaction import CHANNEL

if TYPE_CHECKING:
    import psycopg

_POLL_SECONDS = 0.003


class Wakeup(Protocol):
    """One waiter's view of the commits of all processes. For one thread at a time."""

    def wait(self, timeout: float) -> bool:
        """Wait up to ``timeout`` seconds; true if anything was committed since the last wait returned."""
        ...

    def close(self) -> None:
        """Stop listening."""
        ...


def open_wakeup(engine: sa.Engine) -> Wakeup:
    """Start listening for commits on an engine's database."""
    return SqliteWakeup(engine) if engine.dialect.name == "sqlite" else PostgresWakeup(engine)


class SqliteWakeup:
    """Polls the number by which SQLite tells a connection that another one has changed the file."""

    def __init__(self, engine: sa.Engine):
        self._connection = sqlite3.connect(str(engine.url.database), timeout=60, check_same_thread=False)
        self._seen = self._version()

    def wait(self, timeout: float) -> bool:
        """See ``Wakeup.wait``."""
        end = time.monotonic() + timeout
        while (version := self._version()) == self._seen:
            left = end - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(left, _POLL_SECONDS))
        self._seen = version
        return True

    def close(self) -> None:
        """See ``Wakeup.close``."""
        self._connection.close()

    def _version(self) -> int:
        return self._connection.execute("PRAGMA data_version").fetchone()[0]


class PostgresWakeup:
    """Listens for the notifications that writing transactions send as they commit."""

    def __init__(self, engine: sa.Engine):
        self._address = engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
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
