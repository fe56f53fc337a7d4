"""Modules that belong to the tenant that added them."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    """Bring the tables to this revision."""
    tenant = sa.Column("tenant_id", sa.Text(), nullable=False, server_default="")
    op.add_column("module_marks", tenant)
