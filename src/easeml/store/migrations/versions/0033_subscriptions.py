"""Notifications are sent elsewhere: posted to an address, or mailed."""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"


def upgrade() -> None:
    """Bring the tables to this revision."""
    key = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    big = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "subscriptions",
        sa.Column("id", key, primary_key=True),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("way", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("kinds", sa.JSON(), nullable=False),
        sa.Column("application_id", sa.Text(), nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("seq", big, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("quiet", sa.JSON(), nullable=False),
        sa.Column("failures", big, nullable=False),
        sa.Column("failing_since", sa.Double(), nullable=False),
        sa.Column("next_try", sa.Double(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("last_sent", sa.Double(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
    )
    op.create_index("subscriptions_by_tenant_id_id", "subscriptions", ["tenant_id", "id"])
    op.create_index(
        "subscriptions_by_state_tenant_id_id", "subscriptions", ["state", "tenant_id", "id"]
    )
