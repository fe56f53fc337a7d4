"""What machines offer to tasks, what tasks need of them, and what tasks were seen to use."""

import sqlalchemy as sa
from alembic import op

revision = "0046"
down_revision = "0045"


def upgrade() -> None:
    """Bring the tables to this revision."""
    big = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.add_column("processes", sa.Column("offer", sa.JSON(), nullable=False, server_default="{}"))
    for name, usual in (("memory", "0"), ("disk", "0"), ("threads", "1")):
        op.add_column("tasks", sa.Column(name, big, nullable=False, server_default=usual))
    key = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.create_table(
        "needs_peaks",
        sa.Column("id", key, primary_key=True),
        sa.Column("memory", big, nullable=False),
        sa.Column("disk", big, nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
    )
