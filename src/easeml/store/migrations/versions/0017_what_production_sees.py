"""What endpoints were asked, what they answered, and what was true."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Bring the tables to this revision."""
    key = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "request_logs",
        sa.Column("id", key, primary_key=True, nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("share", sa.Double(), nullable=False),
        sa.Column("days", sa.Double(), nullable=False),
        sa.Column("masked", sa.JSON(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
    )
    op.create_index("request_logs_by_tenant_id_id", "request_logs", ["tenant_id", "id"])
    own = {
        "production_rows": (("model_id", sa.Text()), ("inputs", sa.JSON()), ("answer", sa.JSON())),
        "feedback": (("value", sa.JSON()),),
    }
    for name, columns in own.items():
        op.create_table(
            name,
            sa.Column("id", key, primary_key=True, nullable=False),
            sa.Column("tenant_id", sa.Text(), nullable=False),
            sa.Column("application_id", sa.Text(), nullable=False),
            sa.Column("request_id", sa.Text(), nullable=False),
            sa.Column("row", number, nullable=False),
            sa.Column("key", sa.Text(), nullable=False),
            *[sa.Column(column, kind, nullable=False) for column, kind in columns],
            sa.Column("created", sa.Double(), nullable=False),
        )
        op.create_index(f"{name}_by_tenant_id_id", name, ["tenant_id", "id"])
        op.create_index(
            f"{name}_by_application_id_tenant_id_id", name, ["application_id", "tenant_id", "id"]
        )
