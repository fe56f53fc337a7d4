"""A model may be compared by something else than its quality: an ensemble is."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    """Bring the tables to this revision."""
    op.add_column("models", sa.Column("compared_by", sa.Double(), nullable=True))
