"""Which tasks are traced, and where the traces of their attempts are."""

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"


def upgrade() -> None:
    """Bring the tables to this revision."""
    traced = sa.Column("traced", sa.Boolean(), nullable=False, server_default=sa.false())
    op.add_column("tasks", traced)
    trace = sa.Column("trace", sa.Text(), nullable=False, server_default="")
    op.add_column("attempts", trace)
