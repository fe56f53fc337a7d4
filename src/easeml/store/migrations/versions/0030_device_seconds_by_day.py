"""Device seconds are added up by tenant and day; those of earlier tasks count on their last day."""

from collections import Counter
from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"


def upgrade() -> None:
    """Bring the tables to this revision."""
    key = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    usage = op.create_table(
        "usage",
        sa.Column("id", key, primary_key=True),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("day", sa.Text(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
    )
    op.create_index("usage_by_tenant_id_id", "usage", ["tenant_id", "id"])
    op.create_index("usage_by_day_tenant_id_id", "usage", ["day", "tenant_id", "id"])
    rows = _earlier(op.get_bind())
    if rows:
        op.bulk_insert(usage, rows)


def _earlier(connection: sa.Connection) -> list[dict[str, object]]:
    query = "SELECT tenant_id, coalesce(finished, started, created), cost FROM tasks WHERE cost > 0"
    spent: Counter[tuple[str, str]] = Counter()
    last: dict[tuple[str, str], float] = {}
    for tenant_id, moment, cost in connection.execute(sa.text(query)):
        place = tenant_id, datetime.fromtimestamp(moment, UTC).date().isoformat()
        spent[place] += cost
        last[place] = moment
    rows: list[dict[str, object]] = []
    for (tenant_id, day), seconds in spent.items():
        created = last[tenant_id, day]
        row = {"id": f"{tenant_id}:{day}", "tenant_id": tenant_id, "day": day}
        rows.append({**row, "seconds": seconds, "created": created})
    return rows
