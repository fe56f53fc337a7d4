"""Which look took a row of production, and its truth; and whose word it is that rows were drawn."""

from collections.abc import Iterator
from operator import itemgetter
from typing import Any, cast

import sqlalchemy as sa
from alembic import op

revision = "0054"
down_revision = "0053"

_LOOKS = sa.select(
    sa.column("id"), sa.column("created"), sa.column("payload", sa.JSON)
).select_from(sa.table("tasks"))
_TAKEN = sa.text("""
    UPDATE production_rows SET looked = :id
    WHERE application_id = :application_id AND model_id = :model_id
    AND looked = '' AND created <= :rows_until
""")
_LEARNED = sa.text("""
    UPDATE production_rows SET learned = :id
    WHERE application_id = :application_id AND model_id = :model_id
    AND looked <> '' AND learned = '' AND EXISTS (
        SELECT 1 FROM feedback
        WHERE NOT chosen AND feedback.created <= :told_until
        AND feedback.application_id = production_rows.application_id
        AND (feedback.key = '' AND feedback.request_id = production_rows.request_id
             AND feedback.row = production_rows.row
             OR feedback.key <> '' AND feedback.key = production_rows.key)
    )
""")


def upgrade() -> None:
    """Bring the tables to this revision."""
    for table, column in (
        ("production_rows", "looked"),
        ("production_rows", "learned"),
        ("production_rows", "sampled"),
        ("feedback", "drawn"),
    ):
        op.add_column(table, sa.Column(column, sa.Text(), nullable=False, server_default=""))
    connection = op.get_bind()
    for look in sorted(_looks(connection), key=itemgetter("rows_until")):
        if look["newer"]:
            connection.execute(_TAKEN, look)
        connection.execute(_LEARNED, look)


def _looks(connection: sa.Connection) -> Iterator[dict[str, Any]]:
    """Give the looks at production that saw something, up to which row and word each did."""
    failed = sa.column("state").in_(("failed", "cancelled"))
    asked = _LOOKS.where(sa.column("kind") == "advise", sa.not_(failed))
    for look in connection.execute(asked).all():
        id, created, told = cast(tuple[str, float, dict[str, Any]], tuple(look))
        newer = told.get("newer_artefact", "")
        if told.get("tool") != "monitor" or not (newer or told.get("late_artefact")):
            continue
        yield {
            "id": id,
            "application_id": told["application_id"],
            "model_id": told["model_id"],
            "newer": newer,
            "rows_until": told.get("rows_until") or created,
            "told_until": told.get("told_until") or created,
        }
