"""A copy of all tables of a PostgreSQL database, in which a change of them can be tried."""

import sqlalchemy as sa

_TABLES = """
    SELECT quote_ident(current_schema()) AS place, quote_ident(relname) AS name
    FROM pg_class
    WHERE relnamespace = quote_ident(current_schema())::regnamespace AND relkind = 'r'
"""
# Keys come before what refers to them.
_CONSTRAINTS = """
    SELECT quote_ident(t.relname) AS of_table, quote_ident(c.conname) AS name,
        pg_get_constraintdef(c.oid) AS rule
    FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid
    WHERE t.relnamespace = quote_ident(current_schema())::regnamespace
        AND c.contype IN ('p', 'u', 'c', 'x', 'f')
    ORDER BY c.contype = 'f'
"""
_INDEXES = """
    SELECT quote_ident(current_schema()) AS place, pg_get_indexdef(i.indexrelid) AS made
    FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
    WHERE t.relnamespace = quote_ident(current_schema())::regnamespace
        AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid)
"""


def copy_tables(connection: sa.Connection) -> None:
    """Copy all tables of the current schema, with rows, constraints and indexes under their names.

    The copies are temporary. Until the transaction ends they stand for all tables: no others are
    found. The tables themselves are read only, so that nobody waits.
    """
    tables = connection.execute(sa.text(_TABLES)).all()
    # Read while names mean the tables themselves: rules then name others without a schema.
    rules = connection.execute(sa.text(_CONSTRAINTS)).all()
    indexes = connection.execute(sa.text(_INDEXES)).all()
    connection.exec_driver_sql("SET LOCAL search_path = pg_temp")
    for table in tables:  # names were quoted by the server
        original = f"{table.place}.{table.name}"
        made = f"CREATE TABLE {table.name} (LIKE {original} INCLUDING DEFAULTS)"
        connection.exec_driver_sql(made)
        connection.exec_driver_sql(f"INSERT INTO {table.name} SELECT * FROM {original}")  # noqa: S608
    for one in rules:
        added = f"ALTER TABLE {one.of_table} ADD CONSTRAINT {one.name} {one.rule}"
        connection.exec_driver_sql(added)
    for one in indexes:
        connection.exec_driver_sql(one.made.replace(f" ON {one.place}.", " ON ", 1))
