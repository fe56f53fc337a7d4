"""What has to be proven of a model before it may serve."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Bring the tables to this revision."""
    key = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "gates",
        sa.Column("id", key, primary_key=True, nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("application_id", sa.Text(), nullable=False),
        sa.Column("ledger", sa.JSON(), nullable=False),
        sa.Column("first", number, nullable=False),
        sa.Column("rows", number, nullable=False),
        sa.Column("ended", sa.Boolean(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
    )
    op.create_index("gates_by_tenant_id_id", "gates", ["tenant_id", "id"])
    op.create_index(
        "gates_by_application_id_tenant_id_id", "gates", ["application_id", "tenant_id", "id"]
    )
