"""Statements that SQLAlchemy writes once for a database; the driver then runs their text.

SQLAlchemy's own way from a statement to its rows takes ten times as long as SQLite takes to find
them, and a scheduler asks a hundred times for each result of a search.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar, cast

import sqlalchemy as sa
from sqlalchemy import exc
from sqlalchemy.engine.interfaces import DBAPICursor
from sqlalchemy.sql.compiler import SQLCompiler

Values = Mapping[str, Any]
Statement = sa.Select[*tuple[Any, ...]] | sa.UpdateBase
_Convert = Callable[[Any], Any]
_Answer = TypeVar("_Answer")


class _Text(NamedTuple):
    """A statement as text. ``names``: its parameters, in their order where the driver counts them.

    ``fixed``: the values that the statement itself has for some of them. ``binds``: what makes a
    value fit for the driver, by name of the parameter; most need nothing.
    """

    text: str
    names: tuple[str, ...]
    is_positional: bool
    fixed: Values
    binds: Mapping[str, _Convert]


class Prepared:
    """A statement that is run again and again, with other values for its parameters."""

    __slots__ = ("_results", "_statement", "_texts")

    def __init__(self, statement: Statement):
        self._statement = statement
        self._texts: dict[str, _Text] = {}
        self._results: dict[str, list[tuple[int, _Convert]]] = {}

    def run(self, connection: sa.Connection, values: Values) -> list[Sequence[Any]]:
        """Return the rows that it gives, with ``values`` for the parameters by name.

        Raises what SQLAlchemy does (``sqlalchemy.exc``).
        """
        text = self._text(connection.dialect)
        parameters = _parameters(text, values)

        def act(cursor: DBAPICursor) -> list[Sequence[Any]]:
            cursor.execute(text.text, parameters)
            if not cursor.description:
                return []
            results = self._converting(connection.dialect, cursor.description)
            found = list(cursor.fetchall())
            if not results:
                return found
            return [_converted(row, results) for row in found]

        return _driven(connection, text.text, parameters, act)

    def run_each(self, connection: sa.Connection, values: Sequence[Values]) -> int:
        """Run it once with each of ``values``; return how many rows it wrote. Raises as ``run``."""
        text = self._text(connection.dialect)
        parameters = [_parameters(text, each) for each in values]

        def act(cursor: DBAPICursor) -> int:
            cursor.executemany(text.text, parameters)
            return cursor.rowcount

        return _driven(connection, text.text, parameters, act)

    def _text(self, dialect: sa.Dialect) -> _Text:
        text = self._texts.get(dialect.name)
        if text is None:
            text = _written(self._statement, dialect)
            self._texts[dialect.name] = text
        return text

    def _converting(
        self, dialect: sa.Dialect, description: Sequence[Any]
    ) -> list[tuple[int, _Convert]]:
        """What makes the driver's values fit for a record, by place of the column; most need nothing.

        ``description``: what the driver says of the columns, by PEP 249.
        """
        if dialect.name not in self._results:
            results = []
            for place, column in enumerate(self._statement.exported_columns):
                kind = column.type.dialect_impl(dialect)
                convert = kind.result_processor(dialect, description[place][1])
                if convert is not None:
                    results.append((place, convert))
            self._results[dialect.name] = results
        return self._results[dialect.name]


def parameter(name: str, column: "sa.Column[Any]") -> "sa.BindParameter[Any]":
    """Return a parameter of a statement, for a value of this column."""
    return sa.bindparam(name, type_=column.type)


def drive(connection: sa.Connection, text: str) -> Sequence[Sequence[Any]]:
    """Have SQLite's driver run SQL in the connection's transaction, if one has begun.

    Returns the rows. Raises as ``Prepared.run``.
    """

    def act(cursor: DBAPICursor) -> Sequence[Sequence[Any]]:
        cursor.execute(text)
        return cursor.fetchall()

    return _driven(connection, text, (), act)


def _driven(
    connection: sa.Connection, text: str, values: Any, act: Callable[[DBAPICursor], _Answer]
) -> _Answer:
    """Return what ``act`` does with a cursor of the driver; raise what SQLAlchemy makes of its errors.

    Who listens for statements hears of this one, too: so their numbers are told.
    """
    failed: Any = connection.dialect.loaded_dbapi.Error
    pooled = connection.connection
    try:
        cursor = pooled.cursor()
        try:
            tell = connection.dispatch.before_cursor_execute
            tell(connection, cursor, text, values, None, isinstance(values, list))
            return act(cursor)
        finally:
            cursor.close()
    except failed as error:
        driven: Any = pooled.dbapi_connection
        is_lost = connection.dialect.is_disconnect(error, driven, None)
        if is_lost:
            connection.invalidate(error)
        raise exc.DBAPIError.instance(
            text, None, error, failed, connection_invalidated=is_lost, dialect=connection.dialect
        ) from error


def _parameters(text: _Text, values: Values) -> Any:
    given = {**text.fixed, **values}
    for name, convert in text.binds.items():
        given[name] = convert(given[name])
    if not text.is_positional:
        return given
    return [given[name] for name in text.names]


def _converted(row: Sequence[Any], results: Sequence[tuple[int, _Convert]]) -> Sequence[Any]:
    values = list(row)
    for place, convert in results:
        values[place] = convert(values[place])
    return values


def _written(statement: Statement, dialect: sa.Dialect) -> _Text:
    compiled = cast("SQLCompiler", statement.compile(dialect=dialect))
    fixed, binds = {}, {}
    for name, parameter in compiled.binds.items():
        if not parameter.required:
            fixed[name] = parameter.effective_value
        convert = parameter.type.dialect_impl(dialect).bind_processor(dialect)
        if convert is not None:
            binds[name] = convert
    names = tuple(compiled.positiontup or ())
    return _Text(str(compiled), names, compiled.positional, fixed, binds)
