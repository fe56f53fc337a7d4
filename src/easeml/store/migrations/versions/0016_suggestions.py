"""What was suggested, and what it was expected to gain."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Bring the tables to this revision."""
    key = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    texts = ("tenant_id", "application_id", "version_id", "job_id", "kind")
    estimates = ("gain", "low", "high", "score")
    numbers = ("human_minutes", "device_seconds", "created")
    op.create_table(
        "suggestions",
        sa.Column("id", key, primary_key=True, nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in texts),
        *(sa.Column(name, sa.Double(), nullable=True) for name in estimates),
        *(sa.Column(name, sa.Double(), nullable=False) for name in numbers),
    )
    op.create_index("suggestions_by_tenant_id_id", "suggestions", ["tenant_id", "id"])
    columns = ["application_id", "tenant_id", "id"]
    op.create_index("suggestions_by_application_id_tenant_id_id", "suggestions", columns)
