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
    insert = insert_into(table, postgres=postgres)
    return Prepared(insert.values(places(table, names)).on_conflict_do_nothing())


@lru_cache(SHAPES)
def holding(table: sa.Table, names: Sequence[str], *, postgres: bool) -> Prepared:
    """Return the statement that adds such a row, or holds the one that is there.

    Its parameters are those of ``insertion``.
    """
    key = table.primary_key.columns[0]
    adding = insert_into(table, postgres=postgres).values(places(table, names))
    return Prepared(adding.on_conflict_do_update(index_elements=[key], set_={key.name: key}))


def insert_into(table: sa.Table, *, postgres: bool) -> postgresql.Insert | sqlite.Insert:
    """Return an insert that can say what happens on conflict, for PostgreSQL or SQLite."""
    if postgres:
        return postgresql.insert(table)
    return sqlite.insert(table)


@lru_cache(SHAPES)
def alteration(shape: Shape, names: Sequence[str]) -> Prepared:
    """Return the statement that changes these fields of the rows of a shape, and gives the rows.

    Its parameters are ``new_values``, and those of the shape.
    """
    table = shape.table
    change = sa.update(table).where(*conditions(shape)).values(places(table, names))
    return Prepared(change.returning(*table.c))


def places(table: sa.Table, names: Sequence[str]) -> dict[str, "sa.BindParameter[Any]"]:
    """Return the parameters for new values of these fields."""
    return {name: sa.bindparam(_parameter(name), type_=table.c[name].type) for name in names}


def _parameter(name: str) -> str:
    return f"new_{name}"
