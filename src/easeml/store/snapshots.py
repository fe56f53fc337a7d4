"""One state of a database as a SQLite file, whatever database it comes from, and back.

A file made from PostgreSQL is what SQLite would hold, so a copy can move from either to the other.
"""

import re
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from easeml.errors import Conflict
from easeml.store.database import connect, shown_address
from easeml.store.faults import storage_faults
from easeml.store.migrate import migrate
from easeml.store.sqlite import driver
from easeml.store.tables import events, metadata, tenants

_ROWS_AT_ONCE = 1_000
_DIGEST = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_READS = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}


def write_snapshot(source: sa.Engine, path: Path) -> None:
    """Copy one state of a database to the new SQLite file ``path``; writers go on meanwhile.

    Raises ``StorageFull``, and ``Damaged`` if the database cannot be read.
    """
    with storage_faults():
        if source.dialect.name == "sqlite":
            _copy_file(source, path)
        else:
            with source.connect().execution_options(**_READS) as reading, reading.begin():
                _fill(reading, path)


def load_snapshot(path: Path, url: str) -> None:
    """Fill the empty database at ``url`` from the SQLite file ``path``.

    Raises ``Conflict`` if the database holds something already.
    """
    source = connect(f"sqlite:///{path}")
    target = connect(url)
    try:
        migrate(source)  # it may come from an older easeml
        migrate(target)
        with storage_faults(), source.connect() as reading, reading.begin():
            _copy_rows(reading, target)
    finally:
        source.dispose()
        target.dispose()


def mentioned_digests(connection: sa.Connection, but: str = "") -> set[str]:
    """Return what looks like a digest in the text and JSON of all tables but one."""
    found: set[str] = set()
    for table in metadata.sorted_tables:
        if table.name == but:
            continue
        texts = [sa.cast(column, sa.Text) for column in table.columns if _may_name(column)]
        wanted = sa.select(*texts).execution_options(yield_per=_ROWS_AT_ONCE)
        for row in connection.execute(wanted):
            for text in row:
                found.update(_DIGEST.findall(text or ""))
    return found


def _may_name(column: "sa.Column[Any]") -> bool:
    return not isinstance(column.type, sa.Integer | sa.Double | sa.Boolean)


def _copy_file(source: sa.Engine, path: Path) -> None:
    """Copy a SQLite database by its own backup interface, in one step: one state of it."""
    with source.connect() as connection:
        reading: Any = connection.connection.driver_connection
        copy = driver.connect(path)
        try:
            reading.backup(copy)
        finally:
            copy.close()


def _fill(reading: sa.Connection, path: Path) -> None:
    target = connect(f"sqlite:///{path}")
    try:
        migrate(target)
        _copy_rows(reading, target)
    finally:
        target.dispose()
    path.with_name(f"{path.name}.lock").unlink(missing_ok=True)


def _copy_rows(reading: sa.Connection, target: sa.Engine) -> None:
    with target.connect().execution_options(writes=True) as writing, writing.begin():
        if writing.execute(sa.select(tenants.c.id).limit(1)).first() is not None:
            raise Conflict(
                "The database holds the rows of an easeml already.",
                where=shown_address(target),
                remedy="Name an empty one with EASEML_DATABASE_URL.",
            )
        for table in metadata.sorted_tables:
            _copy_table(reading, writing, table)
        if writing.dialect.name == "postgresql":
            _count_on(writing)


def _copy_table(reading: sa.Connection, writing: sa.Connection, table: sa.Table) -> None:
    found = reading.execution_options(yield_per=_ROWS_AT_ONCE).execute(sa.select(table))
    for rows in found.mappings().partitions():
        writing.execute(sa.insert(table), list(map(dict, rows)))


def _count_on(writing: sa.Connection) -> None:
    """Let PostgreSQL number the next event after those that were copied."""
    newest = sa.select(sa.func.coalesce(sa.func.max(events.c.seq), 0) + 1).scalar_subquery()
    sequence = sa.func.pg_get_serial_sequence(events.name, events.c.seq.name)
    writing.execute(sa.select(sa.func.setval(sequence, newest, False)))
