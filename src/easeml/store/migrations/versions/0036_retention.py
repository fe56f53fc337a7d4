"""What of an application is kept, models that are retired, and which request asked for a task."""

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"


def upgrade() -> None:
    """Bring the tables to this revision."""
    key = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    big = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    request = sa.Column("request", sa.Text(), nullable=False, server_default="")
    op.add_column("tasks", request)
    op.create_table(
        "retention_rules",
        sa.Column("id", key, primary_key=True),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("models", big, nullable=True),
        sa.Column("model_days", sa.Double(), nullable=True),
        sa.Column("result_days", sa.Double(), nullable=True),
        sa.Column("created", sa.Double(), nullable=False),
    )
    op.create_index("retention_rules_by_tenant_id_id", "retention_rules", ["tenant_id", "id"])
    op.create_table(
        "retirements",
        sa.Column("id", key, primary_key=True),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("application_id", sa.Text(), nullable=False),
        sa.Column("files", sa.JSON(), nullable=False),
        sa.Column("size", big, nullable=False),
        sa.Column("kept", sa.Boolean(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
    )
    op.create_index("retirements_by_tenant_id_id", "retirements", ["tenant_id", "id"])
    op.create_index(
        "retirements_by_application_id_tenant_id_id",
        "retirements",
        ["application_id", "tenant_id", "id"],
    )
