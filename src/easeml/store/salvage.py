"""A damaged SQLite file whose rows can all be read still is written anew."""

import os
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from easeml.store.faults import database_is_broken
from easeml.store.sqlite import driver

# What SQLite makes itself has no text, or a name that is its own.
_MADE_BY = """
SELECT type, '"' || name || '"', sql FROM damaged.sqlite_schema
WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
"""
_INDEXES = """
SELECT '"' || name || '"' FROM damaged.sqlite_schema
WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = ?
"""
_BESIDE = ("", "-wal", "-shm")  # the files of a database


def rebuild(database: Path) -> Path:
    """Write all rows of a database anew, in its place; return where the damaged file is kept.

    What is read are the tables: indexes are made of them again, and empty pages left out. Nobody
    else may use the database meanwhile. Raises ``Damaged``, and changes nothing, where a row cannot
    be read, or an index knows of more rows than there are.
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
                _check_complete(copy, name)
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


def _check_complete(copy: Any, table: str) -> None:
    """Raise ``DatabaseError`` if a damaged table had more rows than could be read.

    A page may have become an earlier state of itself, which can be read. Its indexes lie elsewhere.
    """
    (written,) = copy.execute(f"SELECT count(*) FROM main.{table}").fetchone()  # noqa: S608
    indexes = copy.execute(_INDEXES, (table.strip('"'),)).fetchall()
    for how in ("", *(f"INDEXED BY {name}" for (name,) in indexes)):  # first by any index
        known = _count(copy, f"damaged.{table} {how}")
        if known > written:
            raise driver.DatabaseError(f"{table}: {known} rows were there, {written} are left.")


def _count(copy: Any, source: str) -> int:
    """Return how many entries can be read in a table or an index; 0 if not all can be."""
    with suppress(driver.DatabaseError):
        (count,) = copy.execute(f"SELECT count(*) FROM {source}").fetchone()  # noqa: S608
        return count
    return 0
