"""Requests that a model that is rolled out failed on are counted; a roll-out knows its first row."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    """Bring the tables to this revision."""
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    failed = sa.Column("failed", number, nullable=False, server_default="0")
    op.add_column("request_logs", failed)
    op.add_column("rollouts", sa.Column("first", sa.Text(), nullable=False, server_default=""))
