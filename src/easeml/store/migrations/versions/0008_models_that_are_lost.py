"""A model says why it cannot be loaded any more."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Bring the tables to this revision."""
    op.add_column("models", sa.Column("error", sa.Text(), nullable=False, server_default=""))
