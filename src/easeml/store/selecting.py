"""Queries of one table, made once for each shape: making one costs more than the database takes."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import sqlalchemy as sa

MOST, SKIPPED, AFTER, OWNER, SINCE = "most_rows", "skipped_rows", "after_id", "owner_id", "since"
"""Names of the parameters that are no fields."""
_SHAPES = 2048  # a few hundred are in use


class Shape(NamedTuple):
    """What a query asks for, without the values that are asked for.

    ``nulls``, ``singles``, ``groups``: fields that are to be NULL, have one value, or one of
    several. ``columns``: the names of those to read (none: all). ``counts_by``: count the rows, by
    this field, or all of them where it is empty (None: read rows). ``is_limited``, ``skips``,
    ``is_after``: whether there is a largest number of rows, some to leave out first, an id to go on
    from. ``is_owned``: rows of one tenant only, whatever the values say. ``is_newer``: only those
    created after a moment.
    """

    table: sa.Table
    nulls: tuple[str, ...] = ()
    singles: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    counts_by: str | None = None
    is_limited: bool = False
    skips: bool = False
    is_after: bool = False
    newest_first: bool = False
    is_owned: bool = False
    is_newer: bool = False


def with_values(table: sa.Table, equals: Mapping[str, Any]) -> Shape:
    """Return the shape of a query for all rows of a table with these values.

    A list or tuple means any of its members. Raises ``TypeError`` for a field that is not there.
    """
    nulls, singles, groups = [], [], []
    for name, value in equals.items():
        if name not in table.c:
            raise TypeError(f"The table {table.name} has no field {name!r}.")
        if value is None:
            nulls.append(name)
        elif isinstance(value, list | tuple):
            groups.append(name)
        else:
            singles.append(name)
    return Shape(table, tuple(nulls), tuple(singles), tuple(groups))


@lru_cache(_SHAPES)
def select(shape: Shape) -> "sa.Select[*tuple[Any, ...]]":
    """Return the query of a shape: its parameters are the fields by name, and those named above."""
    table = shape.table
    if shape.counts_by is not None:
        return _counting(shape)
    columns = [table.c[name] for name in shape.columns] or [table]
    key = table.c.id
    query = sa.select(*columns).where(*_conditions(shape))
    start = sa.bindparam(AFTER, type_=key.type)
    order, is_behind = key, key > start
    if shape.newest_first:
        order, is_behind = key.desc(), key < start
    if shape.is_after:
        query = query.where(is_behind)
    query = query.order_by(order)
    if shape.is_limited:
        query = query.limit(sa.bindparam(MOST, type_=sa.Integer))
    if shape.skips:
        query = query.offset(sa.bindparam(SKIPPED, type_=sa.Integer))
    return query


def _counting(shape: Shape) -> "sa.Select[*tuple[Any, ...]]":
    count = sa.func.count()
    conditions = _conditions(shape)
    if not shape.counts_by:
        return sa.select(count).select_from(shape.table).where(*conditions)
    column = shape.table.c[shape.counts_by]
    return sa.select(column, count).where(*conditions).group_by(column)


def _conditions(shape: Shape) -> "list[sa.ColumnElement[bool]]":
    columns = shape.table.c
    conditions: list[sa.ColumnElement[bool]] = []
    for name in shape.nulls:
        conditions.append(columns[name].is_(None))
    for name in shape.singles:
        conditions.append(columns[name] == sa.bindparam(name, type_=columns[name].type))
    for name in shape.groups:
        members = sa.bindparam(name, type_=columns[name].type, expanding=True)
        conditions.append(columns[name].in_(members))
    if shape.is_newer:
        conditions.append(columns.created > sa.bindparam(SINCE, type_=columns.created.type))
    if shape.is_owned:
        owner = sa.bindparam(OWNER, type_=columns.tenant_id.type)
        conditions.append(columns.tenant_id == owner)
    return conditions
