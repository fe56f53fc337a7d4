"""Which GPUs workers have, what tasks ask of them and have, and what models were seen to use."""

import sqlalchemy as sa
from alembic import op

revision = "0045"
down_revision = "0044"


def upgrade() -> None:
    """Bring the tables to this revision."""
    big = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.add_column("processes", sa.Column("gpus", sa.JSON(), nullable=False, server_default="{}"))
    op.add_column("tasks", sa.Column("gpu_memory", big, nullable=True))
    op.execute("UPDATE tasks SET gpu_memory = 0 WHERE gpu")  # until now each had a whole one
    op.add_column("attempts", sa.Column("gpu", sa.Text(), nullable=False, server_default=""))
    op.add_column("attempts", sa.Column("gpu_memory", big, nullable=False, server_default="0"))
    op.create_index("attempts_by_gpu_finished", "attempts", ["gpu", "finished"])
    key = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.create_table(
        "gpu_peaks",
        sa.Column("id", key, primary_key=True),
        sa.Column("memory", big, nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
    )
