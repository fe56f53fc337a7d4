"""What fails together with the machine of a process."""

import sqlalchemy as sa
from alembic import op

revision = "0052"
down_revision = "0051"


def upgrade() -> None:
    """Bring the tables to this revision."""
    op.add_column("processes", sa.Column("domain", sa.Text(), nullable=False, server_default=""))
