"""Since when a data set is deleted."""

import sqlalchemy as sa
from alembic import op

revision = "0050"
down_revision = "0049"


def upgrade() -> None:
    """Bring the tables to this revision."""
    op.add_column("datasets", sa.Column("deleted", sa.Double(), nullable=True))
