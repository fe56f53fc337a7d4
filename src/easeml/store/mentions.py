"""Where texts stand in the rows of a tenant: a look at every column that can hold any."""

import json
from collections.abc import Collection, Iterator
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import NamedTuple

import sqlalchemy as sa

from easeml.store.tables import metadata

_LEAST_WITHIN = 4
"""Characters of a text that is looked for within others. Shorter ones stand everywhere, so that
they are looked for as whole values."""


class Mention(NamedTuple):
    """How many rows of a table have one of some texts in a column."""

    table: str
    column: str
    rows: int


def mentions(connection: sa.Connection, tenant_id: str, texts: Collection[str]) -> list[Mention]:
    """Return where any of the texts stands in what a tenant has in the database, whatever its case;
    short ones where they are a whole value.

    Every table that belongs to tenants is read once.
    """
    if not texts:
        return []
    found = []
    for table in metadata.sorted_tables:
        columns = list(filter(_holds_text, table.columns))
        if "tenant_id" not in table.columns or not columns:
            continue
        counts = [sa.func.count(sa.case((_has_any(column, texts), 1))) for column in columns]
        wanted = sa.select(*counts).where(table.c.tenant_id == tenant_id)
        numbers = connection.execute(wanted).one()
        for column, rows in filter(itemgetter(1), zip(columns, numbers, strict=True)):
            found.append(Mention(table.name, column.name, rows))
    return found


def _holds_text(column: "sa.Column[object]") -> bool:
    return not isinstance(column.type, sa.Integer | sa.Double | sa.Boolean)


def _has_any(column: "sa.Column[object]", texts: Collection[str]) -> "sa.ColumnElement[bool]":
    held = sa.cast(column, sa.Text)
    return sa.or_(*chain.from_iterable(map(partial(_tests, held), sorted(texts))))


def _tests(held: "sa.ColumnElement[str]", text: str) -> "Iterator[sa.ColumnElement[bool]]":
    """Give the tests by which a text is found, as it is and as a JSON column writes it."""
    in_json = json.dumps(text)
    if len(text) < _LEAST_WITHIN:
        yield held == text
        for quoted in {in_json, f'"{text}"'}:
            yield held.contains(quoted, autoescape=True)
        return
    for one in {text, in_json[1:-1]}:
        yield held.icontains(one, autoescape=True)
