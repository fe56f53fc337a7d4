"""How warm a worker's device is, and what memory its machine has."""

import sqlalchemy as sa
from alembic import op

revision = "0042"
down_revision = "0041"


def upgrade() -> None:
    """Bring the tables to this revision."""
    op.add_column("processes", sa.Column("temperature", sa.Double(), nullable=True))
    big = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    for name in ("memory", "memory_free"):
        op.add_column("processes", sa.Column(name, big, nullable=True))
