"""A worker may be asked to take no new tasks."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    """Bring the tables to this revision."""
    draining = sa.Column("draining", sa.Boolean(), nullable=False, server_default=sa.false())
    op.add_column("processes", draining)
