"""Suspicious rows are found by the tool ``label-errors``: older reports become its answers."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

_FIND = "SELECT id, value FROM reports WHERE kind = 'suspicion'"
_CHANGE = "UPDATE reports SET kind = 'label-errors', value = :value WHERE id = :id"
_ADVICE = "How suspicious each training row is stands beside the rows."


def upgrade() -> None:
    """Bring the rows to this revision."""
    connection = op.get_bind()
    change = sa.text(_CHANGE).bindparams(sa.bindparam("value", type_=sa.JSON))
    for row in connection.execute(sa.text(_FIND)).all():
        found = json.loads(row.value) if isinstance(row.value, str) else row.value
        answer = {"advice": _ADVICE}
        value = {"parameters": {}, "rows": found["artefact"], "answer": answer}
        connection.execute(change, {"id": row.id, "value": value})
