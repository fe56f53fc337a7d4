"""Models that are rolled out, and the rows on which they are compared."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    """Bring the tables to this revision."""
    key = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "rollout_rules",
        sa.Column("id", key, primary_key=True, nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("way", sa.Text(), nullable=False),
        sa.Column("tolerance", sa.Double(), nullable=False),
        sa.Column("reliability", sa.Double(), nullable=False),
        sa.Column("shares", sa.JSON(), nullable=False),
        sa.Column("scale", sa.Double(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
    )
    op.create_table(
        "rollouts",
        sa.Column("id", key, primary_key=True, nullable=False),
        *[
            sa.Column(name, sa.Text(), nullable=False)
            for name in ("tenant_id", "application_id", "model_id", "against_id", "way")
        ],
        sa.Column("plan", sa.JSON(), nullable=False),
        sa.Column("evidence", sa.JSON(), nullable=False),
        sa.Column("scale", sa.Double(), nullable=False),
        sa.Column("expected", sa.Double(), nullable=False),
        sa.Column("share", sa.Double(), nullable=False),
        *[sa.Column(name, number, nullable=False) for name in ("compared", "changed", "unknown")],
        *[
            sa.Column(name, sa.Text(), nullable=False)
            for name in ("seen", "told", "state", "reason")
        ],
        sa.Column("ended", sa.Double(), nullable=True),
        sa.Column("created", sa.Double(), nullable=False),
    )
    for table, columns in (("rollout_rules", ()), ("rollouts", ("application_id", "state"))):
        op.create_index(f"{table}_by_tenant_id_id", table, ["tenant_id", "id"])
        for name in columns:
            index = f"{table}_by_{name}_tenant_id_id"
            op.create_index(index, table, [name, "tenant_id", "id"])
    added = (
        sa.Column("share", sa.Double(), nullable=False, server_default="0"),
        sa.Column("rollout_id", sa.Text(), nullable=False, server_default=""),
        sa.Column("other", sa.JSON(), nullable=True),
        sa.Column("counted", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
    for column in added:
        op.add_column("production_rows", column)
    for table in ("production_rows", "feedback"):
        for name in ("request_id", "key"):
            index = f"{table}_by_{name}_tenant_id_id"
            op.create_index(index, table, [name, "tenant_id", "id"])
