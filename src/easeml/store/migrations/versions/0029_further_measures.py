"""Models are measured by more than what fits their target: what their owner asks for later."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"


def upgrade() -> None:
    """Bring the tables to this revision."""
    op.add_column("models", sa.Column("measures", sa.JSON(), nullable=False, server_default="{}"))
