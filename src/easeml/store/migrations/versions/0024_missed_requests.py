"""Requests to an endpoint that could not be kept are counted."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    """Bring the tables to this revision."""
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    missed = sa.Column("missed", number, nullable=False, server_default="0")
    op.add_column("request_logs", missed)
