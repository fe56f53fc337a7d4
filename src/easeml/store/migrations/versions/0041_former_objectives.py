"""The objective that a search was judged by, where its application has another one by now."""

import sqlalchemy as sa
from alembic import op

revision = "0041"
down_revision = "0040"


def upgrade() -> None:
    """Bring the tables to this revision."""
    objective = sa.Column("objective", sa.Text(), nullable=False, server_default="")
    op.add_column("jobs", objective)
