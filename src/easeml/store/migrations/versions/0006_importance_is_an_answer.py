"""Importance is what a tool answered about a model: older reports of it become such answers."""

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_FIND = """
SELECT reports.id, reports.value, models.id AS model_id, models.application_id
FROM reports JOIN models ON models.task_id = reports.subject
WHERE reports.kind = 'importance'
"""
_CHANGE = "UPDATE reports SET subject = :subject, value = :value WHERE id = :id"


def upgrade() -> None:
    """Bring the rows to this revision."""
    connection = op.get_bind()
    change = sa.text(_CHANGE).bindparams(sa.bindparam("value", type_=sa.JSON))
    for row in connection.execute(sa.text(_FIND)).all():
        measured = json.loads(row.value) if isinstance(row.value, str) else row.value
        value = {"model_id": row.model_id, "parameters": {}, "answer": _answer(measured)}
        told = {"id": row.id, "subject": row.application_id, "value": value}
        connection.execute(change, told)


def _answer(measured: dict[str, Any]) -> dict[str, Any]:
    rows = [[one["column"], one["loss"], one.get("error")] for one in measured["items"]]
    columns = ["Column", "Quality lost", "Standard error"]
    unmeasured = measured.get("unmeasured", [])
    note = f"There was no time for: {', '.join(unmeasured)}."
    return {
        "advice": f"It looks at {rows[0][0]} most." if rows else "No column was measured.",
        "numbers": [{"name": "rows", "title": "Rows", "value": measured["rows"]}],
        "tables": [{"title": "Importance of columns", "columns": columns, "rows": rows}],
        "notes": [note] if unmeasured else [],
    }
