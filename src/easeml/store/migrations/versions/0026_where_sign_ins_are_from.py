"""Sign-ins tell where they came from."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    """Bring the tables to this revision."""
    origin = sa.Column("origin", sa.Text(), nullable=False, server_default="")
    op.add_column("api_keys", origin)
