"""The quality on validation rows alone, of models that folds have judged."""

import sqlalchemy as sa
from alembic import op

revision = "0049"
down_revision = "0048"


def upgrade() -> None:
    """Bring the tables to this revision."""
    op.add_column("models", sa.Column("held_out", sa.Double(), nullable=True))
