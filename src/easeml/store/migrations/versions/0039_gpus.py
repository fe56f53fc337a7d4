"""Which workers have a GPU, and which tasks need one."""

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"


def upgrade() -> None:
    """Bring the tables to this revision."""
    for table in ("processes", "tasks"):
        gpu = sa.Column("gpu", sa.Boolean(), nullable=False, server_default=sa.false())
        op.add_column(table, gpu)
