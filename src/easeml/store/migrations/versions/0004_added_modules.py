"""Modules that were added to a running easeml."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Bring the tables to this revision."""
    for name in ("source", "state", "task_id", "error"):
        op.add_column("module_marks", sa.Column(name, sa.Text(), nullable=False, server_default=""))
