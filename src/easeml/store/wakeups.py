"""Hints that something was committed, so that waiting processes look for work at once."""

import time
from collections.abc import Set
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import sqlalchemy as sa

from easeml.errors import DatabaseAway
from easeml.store.database import PATIENCE
from easeml.store.faults import database_is_away
from easeml.store.notices import COMMIT, NoticeBoard, watch_notices
from easeml.store.sqlite import driver
from easeml.store.sqlite_log import SqliteLog
from easeml.store.transaction import CHANNEL, WORK_CHANNEL
from easeml.store.work_hints import ANY, NOTHING, WORDS

if TYPE_CHECKING:
    import psycopg

_GROUP_SECONDS = 0.05  # in which most of what follows from a result is committed


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


def wait_for_group(wakeup: Wakeup, timeout: float) -> bool:
    """Wait up to ``timeout`` seconds for a commit, and a moment for those that follow it.

    A result brings several: the worker's, and those of what the scheduler decides upon it. For
    waiters that lose nothing by looking a moment later: they look once instead of at each.
    """
    if not wakeup.wait(timeout):
        return False
    time.sleep(_GROUP_SECONDS)
    wakeup.wait(0.0)
    return True


def open_work_wakeup(engine: sa.Engine) -> WorkWakeup:
    """Start listening for commits that concern workers on an engine's database."""
    if engine.dialect.name == "sqlite":
        return SqliteWords(engine, WORDS)
    return PostgresWorkWakeup(engine)


def open_wakeup(engine: sa.Engine) -> Wakeup:
    """Start listening for commits on an engine's database."""
    if engine.dialect.name == "sqlite":
        return SqliteWakeup(engine)
    return PostgresWakeup(engine)


def _connect(database: Path) -> Any:
    """Connect to a file that is there: none is made. Raises ``DatabaseAway`` where it is not."""
    there = f"{database.absolute().as_uri()}?mode=rw"
    try:
        return driver.connect(there, uri=True, timeout=60, check_same_thread=False)
    except driver.OperationalError as error:
        raise database_is_away() from error


class SqliteWords:
    """What commits of SQLite mean, by the notices of their writers (``notices``).

    Where notices are not told, or late, SQLite itself says that something was committed, and not
    what: then it may mean anything.

    Args:
        engine: of the database.
        words: those that concern the waiter.
    """

    def __init__(self, engine: sa.Engine, words: Set[str]):
        database = Path(str(engine.url.database)).absolute()
        self._log = SqliteLog(database)
        self._log.check_connect()
        self._connection = _connect(database)
        self._notices = watch_notices(NoticeBoard(engine).folder, words)
        self._seen = self._version()
        self._files = self._log.opened()
        self._next_look = time.monotonic() + self._notices.look_every

    def wait(self, timeout: float) -> Set[str]:
        """See ``WorkWakeup.wait``."""
        end = time.monotonic() + timeout
        while True:
            now = time.monotonic()
            if now >= self._next_look and self._has_changed():
                return {ANY}
            left = min(end, self._next_look) - now
            if told := self._notices.wait(max(left, 0.0)):
                self._has_changed()  # the next look need not tell it again
                return told
            if time.monotonic() >= end:
                return NOTHING

    def close(self) -> None:
        """See ``WorkWakeup.close``."""
        self._notices.close()
        self._connection.close()

    def _has_changed(self) -> bool:
        """Ask for the number that changes with every commit."""
        self._next_look = time.monotonic() + self._notices.look_every
        with suppress(DatabaseAway):  # whoever begins a transaction is told
            self._log.check(self._files)
        before = self._seen
        self._seen = self._version()
        return self._seen != before

    def _version(self) -> int:
        return self._connection.execute("PRAGMA data_version").fetchone()[0]


class SqliteWakeup:
    """Listens for any commit."""

    def __init__(self, engine: sa.Engine):
        self._words = SqliteWords(engine, {COMMIT})

    def wait(self, timeout: float) -> bool:
        """See ``Wakeup.wait``."""
        return bool(self._words.wait(timeout))

    def close(self) -> None:
        """See ``Wakeup.close``."""
        self._words.close()


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
