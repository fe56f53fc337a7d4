"""Statements that add and change rows of one table, made once for each shape as queries are."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from easeml.store.prepared import Prepared
from easeml.store.selecting import SHAPES, Shape, conditions

Values = Mapping[str, Any]


def new_values(changes: Values) -> dict[str, Any]:
    """Return the values of fields by the names of the parameters that stand for them."""
    return {_parameter(name): value for name, value in changes.items()}


@lru_cache(SHAPES)
def insertion(table: sa.Table, names: Sequence[str], *, postgres: bool) -> Prepared:
    """Return the statement that adds a row with these fields, unless its key is there already.

    ``new_values`` are its parameters. ``postgres``: for PostgreSQL, else for SQLite.
    """
    insert = postgresql.insert(table) if postgres else sqlite.insert(table)
    return Prepared(insert.values(_places(table, names)).on_conflict_do_nothing())


@lru_cache(SHAPES)
def alteration(shape: Shape, names: Sequence[str]) -> Prepared:
    """Return the statement that changes these fields of the rows of a shape, and gives the rows.

    Its parameters are ``new_values``, and those of the shape.
    """
    table = shape.table
    change = sa.update(table).where(*conditions(shape)).values(_places(table, names))
    return Prepared(change.returning(*table.c))


def _places(table: sa.Table, names: Sequence[str]) -> dict[str, "sa.BindParameter[Any]"]:
    return {name: sa.bindparam(_parameter(name), type_=table.c[name].type) for name in names}


def _parameter(name: str) -> str:
    return f"new_{name}"
