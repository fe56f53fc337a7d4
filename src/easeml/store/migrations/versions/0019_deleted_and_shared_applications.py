"""Applications are deleted with a day to undo, and shared with people."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    """Bring the tables to this revision."""
    key = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.add_column("applications", sa.Column("deleted", sa.Double(), nullable=True))
    op.add_column(
        "applications", sa.Column("erased", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.create_table(
        "shares",
        sa.Column("id", key, primary_key=True, nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("application_id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
    )
    op.create_index("shares_by_tenant_id_id", "shares", ["tenant_id", "id"])
    op.create_index(
        "shares_by_application_id_tenant_id_id", "shares", ["application_id", "tenant_id", "id"]
    )
    op.create_index(
        "shares_by_application_id_user_id", "shares", ["application_id", "user_id"], unique=True
    )
