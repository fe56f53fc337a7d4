"""Tasks may be urgent; attempts are asked to end for them, and what is lost so is counted."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Bring the tables to this revision."""
    op.add_column(
        "tasks", sa.Column("urgent", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.add_column("tasks", sa.Column("suspensions", _BIG, nullable=False, server_default="0"))
    op.add_column("tasks", sa.Column("lost", sa.Double(), nullable=False, server_default="0"))
    op.add_column("attempts", sa.Column("asked_to_end", sa.Double(), nullable=True))
