"""Keys have a scope, and tell when they were last used."""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"


def upgrade() -> None:
    """Bring the tables to this revision."""
    scope = sa.Column("scope", sa.Text(), nullable=False, server_default="all")
    op.add_column("api_keys", scope)
    application = sa.Column("application_id", sa.Text(), nullable=False, server_default="")
    op.add_column("api_keys", application)
    op.add_column("api_keys", sa.Column("used", sa.Double(), nullable=True))
