"""Evaluations, logs of attempts, how far users have read their notifications, what tenants may use,
and which modules are archived.
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Bring the tables to this revision."""
    op.add_column("models", sa.Column("evaluation", sa.Text(), nullable=False, server_default=""))
    op.add_column("attempts", sa.Column("log", sa.Text(), nullable=False, server_default=""))
    op.add_column(
        "users",
        sa.Column(
            "read_seq",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            server_default="0",
        ),
    )
    op.create_index("events_by_tenant_id_kind_seq", "events", ["tenant_id", "kind", "seq"])
    op.add_column("tenants", sa.Column("limits", sa.JSON(), nullable=False, server_default="{}"))
    op.create_table(
        "module_marks",
        sa.Column(
            "id", sa.Text().with_variant(sa.Text(collation="C"), "postgresql"), primary_key=True
        ),
        sa.Column("archived", sa.Boolean(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
    )
