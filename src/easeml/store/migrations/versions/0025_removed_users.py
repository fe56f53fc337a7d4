"""Users are removed for good."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    """Bring the tables to this revision."""
    removed = sa.Column("removed", sa.Boolean(), nullable=False, server_default=sa.false())
    op.add_column("users", removed)
