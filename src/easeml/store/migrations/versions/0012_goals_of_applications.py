"""What applications are to reach."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Bring the tables to this revision."""
    key = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.create_table(
        "goals",
        sa.Column("id", key, primary_key=True, nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("application_id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("objective", sa.Text(), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.Column("wants_less", sa.Boolean(), nullable=True),
        sa.Column("created", sa.Double(), nullable=False),
    )
    op.create_index("goals_by_tenant_id_id", "goals", ["tenant_id", "id"])
    columns = ["application_id", "tenant_id", "id"]
    op.create_index("goals_by_application_id_tenant_id_id", "goals", columns)
