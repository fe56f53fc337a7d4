"""A user may sign in as whom an identity provider knows."""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"


def upgrade() -> None:
    """Bring the tables to this revision."""
    op.add_column("users", sa.Column("identity", sa.Text(), nullable=True))
    op.add_column("users", sa.Column("identity_name", sa.Text(), nullable=False, server_default=""))
    op.create_index("users_by_identity", "users", ["identity"], unique=True)
