"""Kinds of devices: what a worker says of its device, how long runs take there, and where each ran."""

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"


def upgrade() -> None:
    """Bring the tables to this revision."""
    for table in ("processes", "tasks"):
        op.add_column(table, sa.Column("device", sa.Text(), nullable=False, server_default=""))
    pace = sa.Column("pace", sa.Double(), nullable=False, server_default="1")
    op.add_column("processes", pace)
