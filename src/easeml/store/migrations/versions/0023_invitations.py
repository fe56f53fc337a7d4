"""Tenants have several people with roles, and invitations let them in."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    """Bring the tables to this revision."""
    key = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    role = sa.Column("role", sa.Text(), nullable=False, server_default="owner")
    op.add_column("memberships", role)
    op.create_table(
        "invitations",
        sa.Column("id", key, primary_key=True, nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("made_by", sa.Text(), nullable=False),
        sa.Column("expires", sa.Double(), nullable=False),
        sa.Column("application_id", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("used_by", sa.Text(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
    )
    op.create_index("invitations_by_tenant_id_id", "invitations", ["tenant_id", "id"])
    op.create_index(
        "invitations_by_application_id_tenant_id_id",
        "invitations",
        ["application_id", "tenant_id", "id"],
    )
    op.create_index("invitations_by_hash", "invitations", ["hash"], unique=True)
