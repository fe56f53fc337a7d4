"""Engines: SQLite in WAL mode with honest transactions, or PostgreSQL."""

import json
import os
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event, exc

from easeml.addresses import without_secrets
from easeml.errors import DatabaseAway, InvalidInput
from easeml.store.faults import DISK_FAILED, READ_ONLY
from easeml.store.prepared import drive
from easeml.store.sqlite import check_library, driver, library_version
from easeml.store.sqlite_log import SqliteLog

BUSY_SECONDS = 60.0
"""How long a writing transaction of SQLite waits for its turn."""

_ANSWER_SECONDS = 10
"""After so long without a sign of a PostgreSQL server, a connection counts as cut."""

PATIENCE = {
    # By default a cut network is noticed after a quarter of an hour.
    "connect_timeout": _ANSWER_SECONDS,
    "keepalives_idle": _ANSWER_SECONDS,
    "keepalives_interval": 3,
    "keepalives_count": 3,
    "tcp_user_timeout": 2 * _ANSWER_SECONDS * 1000,
}
# A machine that vanished within a transaction must not keep its locks for hours.
_SERVER_PATIENCE = (
    "tcp_keepalives_idle=10",
    "tcp_keepalives_interval=3",
    "tcp_keepalives_count=3",
    "idle_in_transaction_session_timeout=300000",
)

CACHE_BYTES = 16_000 * 1024
"""Most pages of SQLite that one connection keeps in memory."""

CACHES_BYTES = 64_000 * 1024
"""Most that all connections of a process keep: beyond that, a new page takes the place of another."""

_OF_STANDBY = "25006"  # SQLSTATE: only reading is possible
_IsCut = Callable[[Exception, Any, Any], bool]
_LOG = "easeml log"  # of a connection: which files it has opened beside the database
_LENGTH = "easeml log length"  # of a connection that writes: bytes of its log as it began

_PRAGMAS = (
    "synchronous=FULL",
    "temp_store=MEMORY",
    f"cache_size=-{CACHE_BYTES // 1024}",
    f"soft_heap_limit={CACHES_BYTES}",
    "secure_delete=ON",  # what is deleted or changed does not stay in the file's free space
)


def connect(url: str) -> sa.Engine:
    """An engine for a SQLAlchemy URL of a SQLite file or of PostgreSQL.

    Raises ``InvalidInput`` for others, ``Unreachable`` if the SQLite library could lose data.
    """
    try:
        parsed = sa.make_url(url)
    except exc.ArgumentError as error:
        raise InvalidInput(
            "This is not a database URL.",
            remedy="Write it like postgresql://user:password@host/name.",
        ) from error
    backend = parsed.get_backend_name()
    if backend == "sqlite" and parsed.database and parsed.database != ":memory:":
        return _sqlite(parsed)
    if backend == "postgresql":
        return _postgres(parsed.set(drivername="postgresql+psycopg"))
    raise InvalidInput(
        "This database cannot be used.",
        remedy="Use sqlite:///FILE or postgresql://HOST/NAME.",
        where=without_secrets(url),
    )


def shown_address(engine: sa.Engine) -> str:
    """Return the address of a database without passwords."""
    return without_secrets(engine.url.render_as_string(hide_password=True))


def read_clock(connection: sa.Connection) -> float:
    """Seconds of the epoch by the database's clock; with SQLite that is this machine's."""
    if connection.dialect.name == "sqlite":
        return time.time()
    return float(
        connection.execute(sa.text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one()
    )


def empty_log(engine: sa.Engine) -> bool:
    """Write all changes into the file of a SQLite database and empty their log; return whether it is
    empty. Changes of others wait for it a second at most.
    """
    with engine.connect() as connection:
        drive(connection, "PRAGMA busy_timeout=1000")
        try:
            ((is_busy, _, _),) = drive(connection, "PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            drive(connection, f"PRAGMA busy_timeout={BUSY_SECONDS * 1000:.0f}")
    return not is_busy


def write_log(engine: sa.Engine) -> None:
    """Write the log of a SQLite database into its file, as far as nobody reads from it; no change
    waits for that.
    """
    with engine.connect() as connection:
        drive(connection, "PRAGMA wal_checkpoint(PASSIVE)")


def describe(engine: sa.Engine) -> str:
    """Return the database's name and version for people, like ``SQLite 3.53.4``."""
    if engine.dialect.name == "sqlite":
        return f"SQLite {library_version()}"
    with engine.connect() as connection:
        version = connection.execute(sa.text("SHOW server_version")).scalar_one()
    return f"PostgreSQL {version.split()[0]}"


def _sqlite(url: sa.URL) -> sa.Engine:
    check_library()
    engine = sa.create_engine(
        url,
        module=driver,
        connect_args={"timeout": BUSY_SECONDS},
        pool_size=8,
        max_overflow=56,
        pool_use_lifo=True,  # one full cache serves all that comes one after the other
        **_json_options(),
    )
    file = _SameFile(str(url.database))
    event.listen(engine, "do_connect", file.check_again)
    event.listen(engine, "connect", file.check)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", file.check)
    path = Path(str(url.database)).absolute()
    _keep_to_one_log(engine, SqliteLog(path))
    dialect: Any = engine.dialect
    dialect.is_disconnect = partial(_is_cut_on_sqlite, dialect.is_disconnect, path.parent)
    return engine


def _is_cut_on_sqlite(
    usual: _IsCut, folder: Path, error: Exception, connection: Any, cursor: Any
) -> bool:
    """Tell whether a connection is of no use any more; ``usual``: as SQLAlchemy judges it.

    SQLite opens a file for reading alone where it cannot write: such a connection never would.
    """
    reason = str(error).lower()
    if READ_ONLY in reason:
        return True
    if DISK_FAILED in reason:
        return not _can_write(folder)
    return usual(error, connection, cursor)


def _is_cut_on_postgres(usual: _IsCut, error: Exception, connection: Any, cursor: Any) -> bool:
    """Tell the same; a server that became a standby keeps the connections from when it led."""
    is_standby = getattr(error, "sqlstate", "") == _OF_STANDBY
    return is_standby or usual(error, connection, cursor)


def _can_write(folder: Path) -> bool:
    """Try it: file systems that found themselves broken let nobody write, and do not say so."""
    with suppress(OSError), tempfile.TemporaryFile(dir=folder):
        return True
    return False


def _keep_to_one_log(engine: sa.Engine, log: SqliteLog) -> None:
    """Begin transactions, and have a log that is removed named again before anything is read or
    acknowledged.
    """

    def check_connect(*_about: Any) -> None:
        log.check_connect()

    def remember(_connection: Any, record: Any) -> None:
        record.info[_LOG] = log.opened()

    def check_begin(connection: sa.Connection) -> None:
        pooled = connection.connection
        if None in pooled.info[_LOG]:  # it was no database with a log yet
            pooled.info[_LOG] = log.opened()
        log.check_begin(pooled.info[_LOG], pooled.driver_connection)

    def begun(connection: sa.Connection) -> None:
        if _writes(connection):
            connection.connection.info[_LENGTH] = log.size()

    def check_commit(connection: sa.Connection) -> None:
        if _writes(connection):
            info = connection.connection.info
            log.check(info[_LOG], info[_LENGTH])

    def forget(_engine: sa.Engine) -> None:
        log.forget()

    event.listen(engine, "do_connect", check_connect)
    event.listen(engine, "connect", remember)
    event.listen(engine, "begin", check_begin)
    event.listen(engine, "begin", _begin_sqlite)
    event.listen(engine, "begin", begun)
    event.listen(engine, "commit", check_commit)
    event.listen(engine, "engine_disposed", forget)


def _postgres(url: sa.URL) -> sa.Engine:
    own_options = url.query.get("options", "")
    options = " ".join([f"-c {one}" for one in _SERVER_PATIENCE])
    patience = {**PATIENCE, "options": f"{options} {own_options}".strip()}
    # What the URL says counts more.
    said = {name: value for name, value in patience.items() if name not in url.query}
    engine = sa.create_engine(
        url,
        connect_args={**said, "options": patience["options"]},
        pool_size=4,
        max_overflow=28,
        pool_pre_ping=True,
        **_json_options(),
    )
    event.listen(engine, "do_connect", _connect_patiently)
    dialect: Any = engine.dialect
    dialect.is_disconnect = partial(_is_cut_on_postgres, dialect.is_disconnect)
    return engine


def _connect_patiently(
    _dialect: sa.Dialect, _record: Any, arguments: list[Any], options: dict[str, Any]
) -> Any:
    from easeml.store.patience import PatientConnection  # the driver, which SQLite does not need

    return PatientConnection.connect(*arguments, **options)


def _json_options() -> dict[str, Any]:
    """NaN and infinity are no JSON, and PostgreSQL would refuse them."""
    return {"json_serializer": partial(json.dumps, allow_nan=False, separators=(",", ":"))}


class _SameFile:
    """The file of a database, which has to stay the one that the first connection opened.

    Where it is moved, removed or replaced, connections go on with a file that has no name: what
    they write would be lost with the last of them.
    """

    def __init__(self, path: str):
        self._path = str(Path(path).absolute())
        self._first: os.stat_result | None = None

    def check_again(self, *_about: Any) -> None:
        """Raise ``DatabaseAway`` as ``check`` does, once there was a file.

        SQLite would make another one in its place, and then remove its log.
        """
        if self._first is not None:
            self.check()

    def check(self, *_about: Any) -> None:
        """Raise ``DatabaseAway`` where the path names no file, or another one."""
        try:
            found = os.stat(self._path)  # noqa: PTH116 - with each transaction, as in ``sqlite_log``
        except FileNotFoundError as error:
            raise self._away() from error
        if self._first is None:
            self._first = found
        if not os.path.samestat(found, self._first):
            raise self._away()

    def _away(self) -> DatabaseAway:
        return DatabaseAway(
            "The file of the database was moved, removed or replaced while easeml runs.",
            remedy="The provider has to put it back, or to stop easeml and restore the newest "
            "backup: easeml restore.",
        )


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = (
        None  # the driver opens no transactions of its own; _begin_sqlite does
    )
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite(connection: sa.Connection) -> None:
    """Take the writers' lock at once: a reader that turns into a writer may find its snapshot
    outdated.
    """
    drive(connection, "BEGIN IMMEDIATE" if _writes(connection) else "BEGIN")


def _writes(connection: sa.Connection) -> bool:
    return connection.get_execution_options().get("writes", False)
