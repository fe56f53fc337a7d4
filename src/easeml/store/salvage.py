"""A damaged SQLite file whose rows can all be read still is written anew."""

import os
from contextlib import closing, suppress
from pathlib import Path

from easeml.store.faults import database_is_broken
from easeml.store.sqlite import driver

# What SQLite makes itself has no text, or a name that is its own.
_MADE_BY = """
SELECT type, '"' || name || '"', sql FROM damaged.sqlite_schema
WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
"""
_BESIDE = ("", "-wal", "-shm")  # the files of a database


def rebuild(database: Path) -> Path:
    """Write all rows of a database anew, in its place; return where the damaged file is kept.

    What is read are the tables: indexes are made of them again, and empty pages left out. Nobody
    else may use the database meanwhile. Raises ``Damaged``, and changes nothing, where a row cannot
    be read.
    """
    whole = database.with_name(f"{database.name}.rebuilt")
    whole.unlink(missing_ok=True)
    try:
        _write_anew(database, whole)
    except driver.DatabaseError as error:
        whole.unlink(missing_ok=True)
        raise database_is_broken() from error
    kept = database.with_name(f"{database.name}.damaged")
    for ending in _BESIDE:
        with suppress(FileNotFoundError):
            Path(f"{database}{ending}").replace(f"{kept}{ending}")
    whole.replace(database)
    return kept


def _write_anew(database: Path, whole: Path) -> None:
    with closing(driver.connect(whole, isolation_level=None)) as copy:
        copy.execute("ATTACH ? AS damaged", (str(database),))
        found = copy.execute(_MADE_BY).fetchall()
        for kind, name, made_by in found:
            if kind == "table":
                copy.execute(made_by)
                # A condition has SQLite read rows: otherwise it copies indexes as they are.
                copy.execute(f"INSERT INTO {name} SELECT * FROM damaged.{name} NOT INDEXED WHERE 1")  # noqa: S608
        for kind, _, made_by in found:
            if kind != "table":
                copy.execute(made_by)
        copy.execute("DETACH damaged")
        copy.execute("PRAGMA journal_mode=WAL")
        (answer,) = copy.execute("PRAGMA integrity_check(1)").fetchone()
    if answer != "ok":
        raise driver.DatabaseError(answer)
    with whole.open("rb") as file:
        os.fsync(file.fileno())
