"""A search that rests has settled when nothing that follows from it is under way."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    """Bring the tables to this revision."""
    settled = sa.Column("settled", sa.Boolean(), nullable=False, server_default=sa.false())
    op.add_column("jobs", settled)
