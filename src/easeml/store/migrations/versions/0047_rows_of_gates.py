"""Which test rows a gate tests on, by their ids, and how many its owner wants it to wear out."""

import sqlalchemy as sa
from alembic import op

revision = "0047"
down_revision = "0046"


def upgrade() -> None:
    """Bring the tables to this revision."""
    big = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    for column, usual in (("first_id", "-1"), ("last_id", "-1"), ("most", "0")):
        op.add_column("gates", sa.Column(column, big, nullable=False, server_default=usual))
