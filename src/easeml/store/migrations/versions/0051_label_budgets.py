"""The labels that all tests of an application may buy together."""

import sqlalchemy as sa
from alembic import op

revision = "0051"
down_revision = "0050"


def upgrade() -> None:
    """Bring the tables to this revision."""
    budget = sa.Column("label_budget", sa.JSON(none_as_null=True), nullable=True)
    op.add_column("applications", budget)
