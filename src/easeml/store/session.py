"""One open transaction on one connection: running statements, and the database's clock."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from easeml.store.changing import holding, insertion, new_values
from easeml.store.prepared import Prepared

Clock = Callable[[sa.Connection], float]
Values = Mapping[str, Any]


class Session:
    """Runs statements in one transaction.

    ``changed`` tells whether anything was written that others wait for, ``hints`` what it may mean
    for workers (``work_hints``).
    """

    __slots__ = ("_clock", "_now", "_writes", "changed", "connection", "hints", "postgres")

    def __init__(self, connection: sa.Connection, clock: Clock, *, writes: bool):
        self.connection = connection
        self.postgres = connection.dialect.name == "postgresql"
        self.changed = False
        self.hints: set[str] = set()
        self._clock = clock
        self._writes = writes
        self._now: float | None = None

    def now(self) -> float:
        """The database's clock in seconds of the epoch, read once a transaction."""
        if self._now is None:
            self._now = self._clock(self.connection)
        return self._now

    def first(
        self, statement: "sa.Select[*tuple[Any, ...]]", values: Values | None = None
    ) -> sa.Row[Any] | None:
        """The first row a query finds, with ``values`` for its parameters."""
        return self.connection.execute(statement, values).first()

    def all(
        self, statement: "sa.Select[*tuple[Any, ...]]", values: Values | None = None
    ) -> Sequence[sa.Row[Any]]:
        """All rows a query finds, with ``values`` for its parameters."""
        return self.connection.execute(statement, values).all()

    def change(self, statement: sa.Executable, values: Sequence[Values] | None = None) -> int:
        """Run a writing statement, once for each of ``values`` if given; returns how many rows it
        wrote.
        """
        self._check_writes()
        options = {"preserve_rowcount": True}
        count = self.connection.execute(statement, values, execution_options=options).rowcount
        self.changed |= count > 0
        return count

    def change_each(
        self, column: "sa.Column[Any]", where: Sequence["sa.ColumnElement[bool]"], given: Values
    ) -> int:
        """Give a column of rows, by id, the values ``given``; returns how many rows it wrote.

        PostgreSQL takes all of them at once: a statement for each would cost a message for each.
        """
        table = column.table
        if not self.postgres:
            one = [*where, table.c.id == sa.bindparam("of_row")]
            statement = sa.update(table).where(*one).values({column: sa.bindparam("new_value")})
            values = [{"of_row": id, "new_value": value} for id, value in given.items()]
            return self.change(statement, values)
        ids = sa.bindparam("ids", [*given], type_=sa.ARRAY(sa.Text, dimensions=1))
        news = sa.bindparam("news", [*given.values()], type_=sa.ARRAY(column.type, dimensions=1))
        pairs = sa.select(
            sa.func.unnest(ids).label("of_row"), sa.func.unnest(news).label("new_value")
        ).subquery()
        own = [*where, table.c.id == pairs.c.of_row]
        return self.change(sa.update(table).where(*own).values({column: pairs.c.new_value}))

    def run(self, query: Prepared, **values: Any) -> list[Sequence[Any]]:
        """All rows that a prepared query finds, with ``values`` for its parameters."""
        return query.run(self.connection, values)

    def alter(
        self, statement: Prepared, values: Values, *, is_told: bool = True
    ) -> Sequence[Sequence[Any]]:
        """Run a prepared statement that changes rows; return them as they are then.

        ``is_told``: others wait for it.
        """
        self._check_writes()
        rows = statement.run(self.connection, values)
        self.changed |= is_told and bool(rows)
        return rows

    def add(self, table: sa.Table, rows: Sequence[Values]) -> int:
        """Add rows that have the same fields, but those whose keys are there; return how many."""
        self._check_writes()
        statement = insertion(table, tuple(rows[0]), postgres=self.postgres)
        count = statement.run_each(self.connection, list(map(new_values, rows)))
        self.changed |= count > 0
        return count

    def hold(self, table: sa.Table, row: Values) -> None:
        """Add a row, or hold the one that has its key until the transaction ends."""
        self._check_writes()
        statement = holding(table, tuple(row), postgres=self.postgres)
        statement.run_each(self.connection, [new_values(row)])
        self.changed = True

    def note(self, statement: sa.Executable) -> int:
        """Run a writing statement of which nobody is told, as nobody waits for it; returns how many
        rows it wrote.
        """
        self._check_writes()
        options = {"preserve_rowcount": True}
        return self.connection.execute(statement, execution_options=options).rowcount

    def change_returning(self, statement: sa.Executable) -> Sequence[sa.Row[Any]]:
        """Run a writing statement with a RETURNING clause; returns the rows it wrote."""
        self._check_writes()
        rows = self.connection.execute(statement).all()
        self.changed |= bool(rows)
        return rows

    def _check_writes(self) -> None:
        if not self._writes:
            raise RuntimeError("This transaction is for reading: open it with store.write().")
