"""What people are asked about rows, and what they answered."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Bring the tables to this revision."""
    key = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "work_items",
        sa.Column("id", key, primary_key=True, nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("application_id", sa.Text(), nullable=False),
        sa.Column("version_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("row", number, nullable=False),
        sa.Column("column", sa.Text(), nullable=False),
        sa.Column("information", sa.Double(), nullable=False),
        sa.Column("question", sa.JSON(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("held_since", sa.Double(), nullable=False),
        sa.Column("held_until", sa.Double(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
    )
    op.create_table(
        "work_answers",
        sa.Column("id", key, primary_key=True, nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("application_id", sa.Text(), nullable=False),
        sa.Column("item_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("way", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
    )
    for table in ("work_items", "work_answers"):
        op.create_index(f"{table}_by_tenant_id_id", table, ["tenant_id", "id"])
        columns = ["application_id", "tenant_id", "id"]
        op.create_index(f"{table}_by_application_id_tenant_id_id", table, columns)
    columns = ["item_id", "tenant_id", "id"]
    op.create_index("work_answers_by_item_id_tenant_id_id", "work_answers", columns)
