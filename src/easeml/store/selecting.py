"""Queries of one table, made once for each shape: making one costs more than the database takes."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from easeml.store.prepared import Prepared

MOST, SKIPPED, AFTER, OWNER, SINCE = "most_rows", "skipped_rows", "after_id", "owner_id", "since"
"""Names of the parameters that are no fields."""
SHAPES = 2048
"""So many are kept; a few hundred are in use."""
_MOST_PLACES = 1024
"""More values than that are one parameter: databases take 32,766 or 65,535 parameters, and what is
kept of a query with so many places is 80 MB.
"""


class Shape(NamedTuple):
    """What a query asks for, without the values that are asked for.

    ``nulls``, ``singles``, ``groups``: fields that are to be NULL, have one value, or one of
    several, of which there are places for so many; ``sets``: or have one of very many.
    ``columns``: the names of those to read (none: all). ``counts_by``: count the rows, by this field,
    or all of them where it is empty (None: read rows); ``sums``: add up this field of them instead.
    ``is_limited``, ``skips``, ``is_after``:
    whether there is a largest number of rows, some to leave out first, an id to go on from.
    ``is_owned``: rows of one tenant only, whatever the values say. ``is_newer``: only those created
    after a moment. ``postgres``: for PostgreSQL, else for SQLite; only ``sets`` differ there.
    """

    table: sa.Table
    nulls: tuple[str, ...] = ()
    singles: tuple[str, ...] = ()
    groups: tuple[tuple[str, int], ...] = ()
    sets: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    counts_by: str | None = None
    sums: str = ""
    is_limited: bool = False
    skips: bool = False
    is_after: bool = False
    newest_first: bool = False
    is_owned: bool = False
    is_newer: bool = False
    postgres: bool = False


def with_values(table: sa.Table, equals: Mapping[str, Any], **others: Any) -> Shape:
    """Return the shape of a query for all rows of a table with these values.

    A list or tuple means any of its members. ``others``: what else the shape says. Raises
    ``TypeError`` for a field that is not there.
    """
    nulls, singles, groups, sets = [], [], [], []
    for name, value in equals.items():
        if name not in table.c:
            raise TypeError(f"The table {table.name} has no field {name!r}.")
        if value is None:
            nulls.append(name)
        elif not isinstance(value, list | tuple):
            singles.append(name)
        elif len(value) > _MOST_PLACES:
            sets.append(name)
        else:
            groups.append((name, _places(len(value))))
    return Shape(table, tuple(nulls), tuple(singles), tuple(groups), tuple(sets), **others)


def parameters(shape: Shape, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a query's parameters; those that are None have none."""
    given = {name: value for name, value in values.items() if value is not None}
    for name, places in shape.groups:
        members = given.pop(name)
        for place in range(places):
            # One more time the last: the query has places for more.
            given[_member(name, place)] = members[min(place, len(members) - 1)]
    return given


@lru_cache(SHAPES)
def prepared(shape: Shape) -> Prepared:
    """Return the query of a shape; ``parameters`` are those that it takes."""
    return Prepared(_select(shape))


def _places(members: int) -> int:
    """For how many members a query has places: as few numbers as there are powers of two."""
    return 1 << max(members - 1, 0).bit_length()


def _member(name: str, place: int) -> str:
    return f"{name}_{place}"


def _select(shape: Shape) -> "sa.Select[*tuple[Any, ...]]":
    table = shape.table
    if shape.counts_by is not None:
        return _counting(shape)
    columns = [table.c[name] for name in shape.columns] or [table]
    key = table.c.id
    query = sa.select(*columns).where(*conditions(shape))
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
    which = conditions(shape)
    if not shape.counts_by:
        return sa.select(count).select_from(shape.table).where(*which)
    column = shape.table.c[shape.counts_by]
    if shape.sums:
        added = sa.func.sum(shape.table.c[shape.sums])
        count = sa.cast(added, sa.BigInteger)  # PostgreSQL gives no whole number by itself
    return sa.select(column, count).where(*which).group_by(column)


def conditions(shape: Shape) -> "list[sa.ColumnElement[bool]]":
    """Return what is true of the rows of a shape."""
    columns = shape.table.c
    found: list[sa.ColumnElement[bool]] = []
    for name in shape.nulls:
        found.append(columns[name].is_(None))
    for name in shape.singles:
        found.append(columns[name] == sa.bindparam(name, type_=columns[name].type))
    for name, places in shape.groups:
        kind = columns[name].type
        members = [sa.bindparam(_member(name, place), type_=kind) for place in range(places)]
        found.append(columns[name].in_(members))
    for name in shape.sets:
        found.append(_is_in_set(columns[name], name, postgres=shape.postgres))
    if shape.is_newer:
        found.append(columns.created > sa.bindparam(SINCE, type_=columns.created.type))
    if shape.is_owned:
        owner = sa.bindparam(OWNER, type_=columns.tenant_id.type)
        found.append(columns.tenant_id == owner)
    return found


def _is_in_set(column: "sa.Column[Any]", name: str, *, postgres: bool) -> "sa.ColumnElement[bool]":
    """Tell whether a column has one of the values of a parameter that is a list."""
    if postgres:
        return column == sa.any_(sa.bindparam(name, type_=postgresql.ARRAY(column.type)))
    values = sa.func.json_each(sa.bindparam(name, type_=sa.JSON)).table_valued("value")
    return column.in_(sa.select(values.c.value))
