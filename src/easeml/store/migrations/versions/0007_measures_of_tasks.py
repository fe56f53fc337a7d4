"""Training tasks keep their quality in its own unit as well, such as an error in metres."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Bring the tables to this revision."""
    op.add_column("tasks", sa.Column("measure", sa.JSON(), nullable=False, server_default="{}"))
