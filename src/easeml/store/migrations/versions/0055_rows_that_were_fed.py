"""Which version of an application's data has a row of production."""

import sqlalchemy as sa
from alembic import op

revision = "0055"
down_revision = "0054"


def upgrade() -> None:
    """Bring the tables to this revision."""
    op.add_column("production_rows", sa.Column("fed", sa.Text(), nullable=False, server_default=""))
