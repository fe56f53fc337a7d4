"""What a stopped attempt left for the next one, on whichever machine that is."""

import sqlalchemy as sa
from alembic import op

revision = "0053"
down_revision = "0052"


def upgrade() -> None:
    """Bring the tables to this revision."""
    op.add_column("attempts", sa.Column("checkpoint", sa.Text(), nullable=False, server_default=""))
