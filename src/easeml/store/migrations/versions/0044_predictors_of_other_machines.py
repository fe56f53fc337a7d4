"""How controllers know, and are known by, the predictors of other machines."""

import sqlalchemy as sa
from alembic import op

revision = "0044"
down_revision = "0043"


def upgrade() -> None:
    """Bring the tables to this revision."""
    for name in ("certificate", "secret"):
        column = sa.Column(name, sa.Text(), nullable=False, server_default="")
        op.add_column("processes", column)
