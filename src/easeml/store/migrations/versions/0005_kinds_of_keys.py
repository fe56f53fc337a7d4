"""Keys say whether a person made them or a sign-in did: a name can be chosen by anyone."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Bring the tables to this revision."""
    op.add_column("api_keys", sa.Column("kind", sa.Text(), nullable=False, server_default="api"))
    # A key of this name without an end was made by a person.
    op.execute(
        "UPDATE api_keys SET kind = 'sign-in' WHERE name = 'sign-in' AND expires IS NOT NULL"
    )
