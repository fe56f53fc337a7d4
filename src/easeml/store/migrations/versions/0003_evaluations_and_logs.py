"""Evaluations of trained models, and what attempts printed."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Bring the tables to this revision."""
    op.add_column("models", sa.Column("evaluation", sa.Text(), nullable=False, server_default=""))
    op.add_column("attempts", sa.Column("log", sa.Text(), nullable=False, server_default=""))
