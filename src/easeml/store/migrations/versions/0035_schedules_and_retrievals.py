"""Data from elsewhere is fetched again, by hand or on schedules, and each time is kept."""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"


def upgrade() -> None:
    """Bring the tables to this revision."""
    key = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    big = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    follows = sa.Column("follows", sa.Boolean(), nullable=False, server_default=sa.true())
    op.add_column("applications", follows)
    op.create_table(
        "schedules",
        sa.Column("id", key, primary_key=True),
        *_texts("tenant_id", "user_id", "action", "dataset_id", "application_id"),
        *_texts("every", "at", "zone"),
        sa.Column("next_time", sa.Double(), nullable=False),
        sa.Column("paused", sa.Boolean(), nullable=False),
        sa.Column("failures", big, nullable=False),
        *_texts("error"),
        sa.Column("created", sa.Double(), nullable=False),
    )
    op.create_table(
        "retrievals",
        sa.Column("id", key, primary_key=True),
        *_texts("tenant_id", "action", "dataset_id", "application_id", "schedule_id"),
        *_texts("state", "task_id", "version_id"),
        sa.Column("fewer", sa.Boolean(), nullable=False),
        *_texts("note"),
        sa.Column("ended", sa.Double(), nullable=True),
        sa.Column("created", sa.Double(), nullable=False),
    )
    indexed = {
        "schedules": ("dataset_id", "application_id"),
        "retrievals": ("dataset_id", "application_id", "schedule_id", "task_id"),
    }
    for table, columns in indexed.items():
        op.create_index(f"{table}_by_tenant_id_id", table, ["tenant_id", "id"])
        for name in columns:
            index = f"{table}_by_{name}_tenant_id_id"
            op.create_index(index, table, [name, "tenant_id", "id"])


def _texts(*names: str) -> list["sa.Column[str]"]:
    return [sa.Column(name, sa.Text(), nullable=False) for name in names]
