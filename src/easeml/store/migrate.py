"""Bringing a database to this program's schema, when it is opened; safe when many processes open it
at once.
"""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa

from easeml.errors import Conflict

SCHEMA_VERSION = "0039"
"""The newest revision under ``migrations/versions``; known here so that an up-to-date start needs
no Alembic.
"""

_LOCK = 0x6561_7365_0002


def migrate(engine: sa.Engine) -> None:
    """Create or upgrade the tables if needed.

    Raises ``Conflict`` if a newer easeml has written this database.
    """
    if engine.dialect.name == "sqlite":
        _migrate_sqlite(engine)
    elif not _is_current(engine):
        with engine.begin() as connection:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
            _upgrade(connection)


def _migrate_sqlite(engine: sa.Engine) -> None:
    """Nobody looks at a database file that another process is still putting in WAL mode."""
    path = Path(f"{engine.url.database}.lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path, fcntl.LOCK_SH):
        if _is_current(engine):
            return
    with _locked(path, fcntl.LOCK_EX):
        with engine.connect() as connection:
            driver = connection.connection.driver_connection
            assert driver is not None  # an open connection has one
            driver.execute("PRAGMA journal_mode=WAL").close()
        with engine.connect().execution_options(writes=True) as connection, connection.begin():
            _upgrade(connection)


@contextmanager
def _locked(path: Path, kind: int) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, kind)
        yield


def _is_current(engine: sa.Engine) -> bool:
    with engine.connect() as connection:
        return _version(connection) == SCHEMA_VERSION


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
