"""Run by Alembic: migrations go over the connection, and in the transaction, that the store hands
in.
"""

from alembic import context

from easeml.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,
)
context.run_migrations()
