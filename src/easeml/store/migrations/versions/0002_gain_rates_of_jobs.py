"""What a job's next task may be expected to gain a device second."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Bring the tables to this revision."""
    op.add_column("jobs", sa.Column("gain_rate", sa.Double(), nullable=True))
