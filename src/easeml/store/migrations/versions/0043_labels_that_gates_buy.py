"""The rows without labels on which a gate may buy some, and the pickings of models that served."""

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"


def upgrade() -> None:
    """Bring the tables to this revision."""
    for table, column in (("gates", "reserve"), ("request_logs", "picking")):
        op.add_column(table, sa.Column(column, sa.JSON(none_as_null=True), nullable=True))
