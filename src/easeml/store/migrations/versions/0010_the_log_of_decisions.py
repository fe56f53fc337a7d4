"""The log of decisions, and settings that are changed while easeml runs."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Bring the tables to this revision."""
    key = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "search_changes",
        sa.Column("id", key, primary_key=True, nullable=False),
        sa.Column("epoch", number, nullable=False),
        sa.Column("changes", sa.Text(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
    )
    op.create_index("search_changes_by_epoch_id", "search_changes", ["epoch", "id"])
    op.create_table(
        "kept_settings",
        sa.Column("id", key, primary_key=True, nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
    )
