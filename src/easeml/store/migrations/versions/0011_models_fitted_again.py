"""A model may have been fitted once more, on all rows but the test rows."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Bring the tables to this revision."""
    for name in ("refitted", "refitted_predictions"):
        op.add_column("models", sa.Column(name, sa.Text(), nullable=False, server_default=""))
