"""How long released models are compared with those before, and words on rows that were chosen."""

import sqlalchemy as sa
from alembic import op

revision = "0048"
down_revision = "0047"


def upgrade() -> None:
    """Bring the tables to this revision."""
    days = sa.Column("days", sa.Double(), nullable=False, server_default="0")
    op.add_column("rollout_rules", days)
    truth = sa.Column("truth", sa.Text(), nullable=False, server_default="any")
    op.add_column("rollout_rules", truth)
    chosen = sa.Column("chosen", sa.Boolean(), nullable=False, server_default=sa.false())
    op.add_column("feedback", chosen)
