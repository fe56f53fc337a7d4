"""Where texts stand in the rows of a tenant: a look at every column that can hold any."""

import json
from collections.abc import Collection
from typing import NamedTuple

import sqlalchemy as sa

from easeml.store.tables import metadata


class Mention(NamedTuple):
    """How many rows of a table have one of some texts in a column."""

    table: str
    column: str
    rows: int


def mentions(connection: sa.Connection, tenant_id: str, texts: Collection[str]) -> list[Mention]:
    """Return where any of the texts stands in what a tenant has in the database, whatever its case.

    Every table that belongs to tenants is read once.
    """
    if not texts:
        return []
    found = []
    for table in metadata.sorted_tables:
        columns = [column for column in table.columns if _holds_text(column)]
        if "tenant_id" not in table.columns or not columns:
            continue
        counts = [sa.func.count(sa.case((_has_any(column, texts), 1))) for column in columns]
        wanted = sa.select(*counts).where(table.c.tenant_id == tenant_id)
        numbers = connection.execute(wanted).one()
        for column, rows in zip(columns, numbers, strict=True):
            if rows:
                found.append(Mention(table.name, column.name, rows))
    return found


def _holds_text(column: "sa.Column[object]") -> bool:
    return not isinstance(column.type, sa.Integer | sa.Double | sa.Boolean)


def _has_any(column: "sa.Column[object]", texts: Collection[str]) -> "sa.ColumnElement[bool]":
    held = sa.cast(column, sa.Text)
    written = set[str]()
    for text in texts:
        in_json = json.dumps(text)[1:-1]  # how a JSON column writes it
        written.update((text, in_json))
    return sa.or_(*[held.icontains(one, autoescape=True) for one in sorted(written)])
