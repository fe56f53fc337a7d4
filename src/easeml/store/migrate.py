"""Bringing a database to this program's schema, when it is opened; safe when many processes open it
at once.
"""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import sqlalchemy as sa
from sqlalchemy import exc

from easeml.errors import Conflict, NotFound
from easeml.store.database import connect, shown_address
from easeml.store.sqlite import driver

SCHEMA_VERSION = "0055"
"""The newest revision under ``migrations/versions``; known here so that an up-to-date start needs
no Alembic.
"""

_LOCK = 0x6561_7365_0002
_MIGRATION_SECONDS = 86_400.0  # of one statement
_TABLE_SECONDS = 20.0  # until others let go of a table: nobody is answered meanwhile
_LOCK_NOT_AVAILABLE = "55P03"  # of PostgreSQL's states


def migrate(engine: sa.Engine) -> None:
    """Create or upgrade the tables if needed.

    Raises ``Conflict`` if a newer easeml has written this database.
    """
    if engine.dialect.name == "sqlite":
        _migrate_sqlite(engine)
    elif not is_current(engine):
        _migrate_postgres(engine)


def _migrate_postgres(engine: sa.Engine) -> None:
    try:
        _change_tables(engine)
    except exc.OperationalError as error:
        if getattr(error.orig, "sqlstate", None) != _LOCK_NOT_AVAILABLE:
            raise
        raise Conflict(
            "The database cannot be brought to the form of this easeml: another program works "
            f"with its tables, for longer than {_TABLE_SECONDS:g} s.",
            remedy="Nothing was changed. Try again when it has ended: a dump, perhaps, or a "
            "session that was left open (pg_stat_activity).",
        ) from error


def _change_tables(engine: sa.Engine) -> None:
    from easeml.store.patience import PatientConnection  # the driver, which SQLite does not need

    with engine.begin() as connection:
        link = connection.connection.driver_connection
        assert isinstance(link, PatientConnection)
        # Columns of large tables take their time, and so does who migrates at this moment.
        with link.waiting(_MIGRATION_SECONDS):
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
            patience = f"SET LOCAL lock_timeout = {_TABLE_SECONDS * 1000:.0f}"
            connection.exec_driver_sql(patience)
            _upgrade(connection)


def _migrate_sqlite(engine: sa.Engine) -> None:
    """Upgrade a file; what it was before is kept beside it.

    Nobody looks at a database file that another process is still putting in WAL mode.
    """
    path = Path(f"{engine.url.database}.lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path, fcntl.LOCK_SH):
        if is_current(engine):
            return
    with _locked(path, fcntl.LOCK_EX):
        with engine.connect() as connection:
            before = _version(connection)
        with engine.connect() as connection:
            link = connection.connection.driver_connection
            assert link is not None  # an open connection has one
            link.execute("PRAGMA journal_mode=WAL").close()
            if before not in (None, SCHEMA_VERSION):
                _keep_before(link, Path(f"{engine.url.database}.before-{SCHEMA_VERSION}"))
        with engine.connect().execution_options(writes=True) as connection, connection.begin():
            _upgrade(connection)


def _keep_before(link: Any, kept: Path) -> None:
    """Copy a database, as it is before an upgrade: the way back to the easeml that wrote it."""
    kept.unlink(missing_ok=True)  # of an upgrade that was cut off
    copy = "VACUUM INTO ?"
    try:
        link.execute(copy, (str(kept),)).close()
    except driver.DatabaseError as error:
        raise exc.OperationalError(copy, None, error) from error


def rehearse(engine: sa.Engine) -> None:
    """Bring a copy of a database to this program's schema, then remove the copy.

    Others may read and write the database meanwhile. Raises what its migration would.
    """
    if engine.dialect.name == "sqlite":
        _rehearse_sqlite(engine)
    else:
        _rehearse_postgres(engine)


def _rehearse_sqlite(engine: sa.Engine) -> None:
    file = Path(engine.url.database or "")
    with TemporaryDirectory(prefix="rehearsal-", dir=file.parent) as folder:
        copy = Path(folder) / file.name
        with engine.connect() as connection:
            _keep_before(connection.connection.driver_connection, copy)
        trial = connect(f"sqlite:///{copy}")
        try:
            with trial.connect().execution_options(writes=True) as changed, changed.begin():
                _upgrade(changed)
        finally:
            trial.dispose()


def _rehearse_postgres(engine: sa.Engine) -> None:
    """Change temporary tables, which vanish with the transaction."""
    from easeml.store.patience import PatientConnection  # the driver, which SQLite does not need
    from easeml.store.postgres_copy import copy_tables

    one_state = {"isolation_level": "REPEATABLE READ"}
    with engine.connect().execution_options(**one_state) as connection, connection.begin() as trial:
        link = connection.connection.driver_connection
        assert isinstance(link, PatientConnection)
        with link.waiting(_MIGRATION_SECONDS):
            copy_tables(connection)
            _upgrade(connection)
        trial.rollback()


@contextmanager
def _locked(path: Path, kind: int) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, kind)
        yield


def is_current(engine: sa.Engine) -> bool:
    """Has a database the schema of this easeml?

    Raises ``Conflict`` if a newer one has written it.
    """
    with engine.connect() as connection:
        return _version(connection) == SCHEMA_VERSION


def check_current(engine: sa.Engine) -> None:
    """Raise ``NotFound`` for a database without tables, and ``Conflict`` for one whose schema is
    another than this easeml's. Nothing is changed.
    """
    with engine.connect() as connection:
        version = _version(connection)
    if version is None:
        raise _no_database(engine)
    if version != SCHEMA_VERSION:
        raise Conflict(
            f"The database has schema {version} of an older easeml; this one has {SCHEMA_VERSION}.",
            remedy="Use the easeml that wrote it, or have this one take it up: easeml upgrade "
            "while the other runs, else easeml up.",
        )


def check_there(engine: sa.Engine) -> None:
    """Raise ``NotFound`` for a file of SQLite that is not there, or empty. None is made."""
    if engine.dialect.name != "sqlite":
        return
    path = Path(engine.url.database or "")
    if not path.is_file() or not path.stat().st_size:
        raise _no_database(engine)


def _no_database(engine: sa.Engine) -> NotFound:
    return NotFound("There is no database of easeml.", where=shown_address(engine))


def _version(connection: sa.Connection) -> str | None:
    """The schema version a database has, ``None`` if it has no tables yet.

    Raises ``Conflict`` if too new.
    """
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    version = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
    if version is not None and version > SCHEMA_VERSION:
        raise Conflict(
            f"The database has schema {version}, this easeml knows up to {SCHEMA_VERSION}.",
            remedy="Start the newer easeml that wrote it, or restore a backup.",
        )
    return version


def _upgrade(connection: sa.Connection) -> None:
    if _version(connection) == SCHEMA_VERSION:
        return
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option(
        "script_location", str(Path(__file__).parent / "migrations").replace("%", "%%")
    )
    command.upgrade(config, "head")
