"""The secret of a webhook that a newer one takes the place of, and until when it counts."""

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0039"


def upgrade() -> None:
    """Bring the tables to this revision."""
    old = sa.Column("old_secret", sa.Text(), nullable=False, server_default="")
    op.add_column("subscriptions", old)
    until = sa.Column("old_secret_until", sa.Double(), nullable=False, server_default="0")
    op.add_column("subscriptions", until)
