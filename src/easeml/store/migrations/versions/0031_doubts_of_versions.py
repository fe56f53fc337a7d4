"""A version keeps what its doubtful cells could be."""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"


def upgrade() -> None:
    """Bring the tables to this revision."""
    doubts = sa.Column("doubts", sa.Text(), nullable=False, server_default="")
    op.add_column("versions", doubts)
