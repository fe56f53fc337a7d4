"""Expressions of SQL over the cells of one row: ``CASE WHEN price > 10 THEN 'dear' ELSE 'cheap' END``.

SQLite computes them, as a generated column of a table in memory. It takes for one what is a
function of the row alone, and refuses everything else: other rows and tables, queries, aggregates,
chance and the time of day (https://sqlite.org/gencol.html, section 2.3). So the work of a row is
bounded by the length of the text, and equal rows give equal values wherever they are computed.

As everywhere in SQLite: NaN is NULL, a division by zero is NULL, whole numbers divide to whole ones
and become real ones beyond 64 bits, truth is 1 or 0, and names differ by more than ASCII case.
Dates and times are texts such as ``2024-05-31 12:00:00``, which its functions of dates read.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import pyarrow as pa

from easeml.errors import InvalidInput
from easeml.relation.expressions import Columns
from easeml.sqlite import driver

_MOST_CHARACTERS = 100_000
_AT_ONCE = 2_000  # rows in the table
_HEAP = 1 << 30  # bytes that SQLite may take in this process, once it has computed an expression
_MOST_GIVEN = 1 << 30  # letters and bytes that an expression may give in all rows
_TOO_LONG = f"it gives more than {_MOST_GIVEN >> 20} MiB of text"
_LISTED = """
    abs acos acosh asin asinh atan atan2 atanh ceil ceiling char coalesce concat concat_ws cos cosh
    date datetime degrees exp floor format glob hex if ifnull iif instr json json_array
    json_array_length json_extract json_object json_quote json_type json_valid julianday length
    like likelihood likely ln log log10 log2 lower ltrim max min mod nullif octet_length pi pow
    power printf quote radians replace round rtrim sign sin sinh soundex sqrt strftime substr
    substring tan tanh time timediff trim trunc typeof unhex unicode unixepoch unlikely upper
    -> ->>
"""
_FUNCTIONS = frozenset(_LISTED.split())
# What is left open goes on to the end, where SQLite refuses it; so no character is read twice.
_TOKEN = re.compile(
    r"""
      (?P<text> ' [^']* (?: '' [^']* )* (?: ' | \Z ) )
    | (?P<comment> --[^\n]* | /\*.*?(?: \*/ | \Z ) )
    | " (?P<double> [^"]* (?: "" [^"]* )* ) (?: " | \Z )
    | ` (?P<back> [^`]* (?: `` [^`]* )* ) (?: ` | \Z )
    | \[ (?P<square> [^\]]* ) (?: \] | \Z )
    | (?P<word> [^\W\d][\w$]* )
    | (?P<mark> [();] )
    """,
    re.VERBOSE | re.DOTALL,
)

_QUOTES = {"double": '"', "back": "`", "square": "\0", "word": "\0"}
"""What stands twice in a name that holds it, by how the name is written; no text has a NUL."""
_DEEPER = {"(": 1, ")": -1, ";": -_MOST_CHARACTERS}
_NO_TEXT = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True)
class RowSql:
    """A checked expression. ``columns``: the names that it reads, in order.

    ``named``: those that it names. SQLite leaves away what decides nothing, as in ``x AND 0``.
    """

    text: str
    columns: tuple[str, ...]
    named: tuple[str, ...]

    def evaluate(self, columns: Columns, rows: int) -> pa.Array:
        """Return its value in each of ``rows`` rows, as numbers, text or bytes. Raises InvalidInput.

        Whole numbers and real ones become real ones; other types have to agree in all rows. An
        expression that takes very much memory, in one row or in all, is refused.
        """
        cells = {name: columns.get(name, pa.nulls(rows)) for name in self.named}
        values: list[Any] = []
        given = 0
        with closing(_connected(set())) as link:
            # Of the whole process: SQLite knows no limit of a connection, and lowers this one only.
            link.execute(f"PRAGMA hard_heap_limit = {_HEAP}")
            _make_table(link, self.text, self.named)
            for begin in range(0, rows, _AT_ONCE):
                size = min(_AT_ONCE, rows - begin)
                bound: list[list[Any]] = [[None] * size]
                for name, column in cells.items():
                    bound.append(_bound(column.slice(begin, size), name))
                for value in _computed(link, bound, self.text):
                    given += len(value) if isinstance(value, str | bytes) else 0
                    if given > _MOST_GIVEN:
                        raise _refused(_TOO_LONG, self.text)
                    values.append(value)
        return _typed(values, self.text)


def row_sql(text: str, columns: Sequence[str]) -> RowSql:
    """Check an expression over some columns.

    Raises InvalidInput where it is none, or reads more than the cells of a row.
    """
    _check_text(text)
    named = mentioned(text, columns)
    one_of_each = list({_folded(name): name for name in reversed(named)}.values())
    _check_quoted(text, one_of_each)
    read = _columns_read(text, one_of_each)
    for name in sorted(read):
        _check_told_apart(name, named, text)
    in_order = tuple(filter(read.__contains__, named))
    return RowSql(text, in_order, tuple(one_of_each))


def _columns_read(text: str, columns: Sequence[str]) -> set[str]:
    """Return the columns that SQLite reads for an expression. Raises InvalidInput."""
    read: set[str] = set()
    with closing(_connected(read)) as link:
        _make_table(link, text, columns)
        read.clear()
        with _errors_of(text):
            link.execute(f"SELECT (\n{text}\n) FROM cells")  # noqa: S608
    return read


def _check_told_apart(name: str, columns: Sequence[str], text: str) -> None:
    """Raise InvalidInput for a column that SQL cannot tell from another one."""
    alike = [other for other in columns if _folded(other) == _folded(name)]
    if len(alike) > 1:
        raise InvalidInput(
            f"Columns {' and '.join(map(repr, alike))} are one name in SQL.",
            where=_place(text),
            remedy="Rename one of them, or use a formula.",
        )


def mentioned(text: str, columns: Collection[str]) -> list[str]:
    """Return the columns whose names occur in an expression: all that it reads, or more."""
    found = _folded_names(text)
    return [name for name in columns if _folded(name) in found]


def _folded_names(text: str) -> set[bytes]:
    """Return the names in an expression as SQLite compares them."""
    return {_folded(name) for _, name in _names(text)}


def _names(text: str) -> Iterator[tuple[str, str]]:
    """Give the names in an expression, each with how it is written: double, back, square, word."""
    for token in _TOKEN.finditer(text):
        kind = str(token.lastgroup)
        if kind in _QUOTES:
            quote = _QUOTES[kind]
            yield kind, token[kind].replace(quote * 2, quote)


def _folded(name: str) -> bytes:
    """Return a name as SQLite compares it: letters of ASCII have no case."""
    return name.encode("utf-8", "surrogatepass").lower()


def _check_text(text: str) -> None:
    """Raise InvalidInput for what cannot stand between two parentheses as one expression."""
    if len(text) > _MOST_CHARACTERS:
        raise InvalidInput(
            f"The SQL has {len(text):,} characters; at most {_MOST_CHARACTERS:,} are read.",
            where=_place(text),
            remedy="Keep long lists in a table, and join it.",
        )
    if _NO_TEXT.search(text):
        raise _refused("it has a character that no text has", text)
    steps = [_DEEPER.get(token[0], 0) for token in _TOKEN.finditer(text)]
    depths = list(accumulate(steps, initial=0))
    if min(depths) < 0:
        raise _refused("it is more than one expression", text)
    if depths[-1] > 0:
        raise _refused("a parenthesis is left open", text)


def _check_quoted(text: str, columns: Sequence[str]) -> None:
    """Raise InvalidInput for a name in double quotes that is no column, which SQLite takes for text."""
    known = set(map(_folded, columns))
    for kind, name in _names(text):
        if kind == "double" and _folded(name) not in known:
            raise InvalidInput(
                f"There is no column {name!r}.",
                where=_place(text),
                remedy="Double quotes are for names of columns; text stands in single quotes.",
            )


def _connected(read: set[str]) -> Any:
    """Return an empty database in memory, which calls known functions only.

    ``read`` gets the names of columns that statements read.
    """

    def may(action: int, first: str | None, second: str | None, *_: str | None) -> int:
        name = str(second)
        if action == driver.SQLITE_READ:
            read.add(name)
        if action == driver.SQLITE_FUNCTION and name.lower() not in _FUNCTIONS:
            return driver.SQLITE_DENY
        return driver.SQLITE_OK

    link = driver.connect(":memory:", isolation_level=None)
    link.set_authorizer(may)
    return link


def _make_table(link: Any, text: str, columns: Sequence[str]) -> None:
    """Make table ``cells``: a column of no use, those of the rows, and what is computed.

    Columns have no types, so that SQLite converts nothing. Raises InvalidInput.
    """
    first, value = _free_names(text)
    defined = ", ".join([first, *map(_quoted, columns)])
    with _errors_of(text):
        link.execute(f"CREATE TABLE cells ({defined}, {value} AS (\n{text}\n))")
        link.execute(f"CREATE VIEW computed AS SELECT {value} AS value FROM cells")  # noqa: S608


def _free_names(text: str) -> list[str]:
    """Return two names of columns that an expression does not have."""
    taken = _folded_names(text)
    names = [f"c{number}" for number in range(len(taken) + 2)]
    return [name for name in names if _folded(name) not in taken][:2]


def _quoted(name: str) -> str:
    """Return a name of a column as SQL takes it, whatever it holds."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _computed(link: Any, cells: Sequence[Sequence[Any]], text: str) -> Iterator[Any]:
    """Give what some rows give, one after another; their cells are given by column."""
    marks = ", ".join("?" * len(cells))
    rows = list(zip(*cells, strict=True))
    with _errors_of(text):
        link.executemany(f"INSERT INTO cells VALUES ({marks})", rows)  # noqa: S608
        # A table is read in the order in which its rows came.
        for (value,) in link.execute("SELECT value FROM computed"):
            yield value
        link.execute("DELETE FROM cells")


@contextmanager
def _errors_of(text: str) -> Iterator[None]:
    """Say what SQLite says as InvalidInput."""
    try:
        yield
    except (driver.Error, driver.Warning, MemoryError) as error:
        why = " ".join(str(error).split()) or "it needs too much memory"
        why = why.replace(" prohibited in generated columns", " cannot be used")
        why = why.replace("not authorized to use function", "it cannot use the function")
        raise _refused(why.replace(" in a generated column", ""), text) from error


def _is_whole(kind: pa.DataType) -> bool:
    return pa.types.is_decimal(kind) and kind.scale <= 0


_FORMS: Sequence[tuple[Callable[[pa.DataType], bool], pa.DataType]] = (
    (pa.types.is_integer, pa.int64()),
    (pa.types.is_boolean, pa.int64()),
    (_is_whole, pa.int64()),
    (pa.types.is_decimal, pa.float64()),
    (pa.types.is_floating, pa.float64()),
    (pa.types.is_null, pa.null()),
    (pa.types.is_string, pa.string()),
    (pa.types.is_large_string, pa.large_string()),
    (pa.types.is_binary, pa.binary()),
    (pa.types.is_large_binary, pa.large_binary()),
)
"""As what SQLite takes cells."""


def _bound(cells: pa.Array, name: str) -> list[Any]:
    """Return cells as SQLite takes them. Raises InvalidInput for a column that it cannot read."""
    try:
        for is_it, form in _FORMS:
            if is_it(cells.type):
                return cells.cast(form).to_pylist()
        return list(map(_time, cells.to_pylist()))
    except (pa.ArrowException, ValueError, OverflowError, AttributeError) as error:
        raise InvalidInput(
            f"holds {cells.type}, which SQL cannot read: {error}.",
            where=f"column {name!r}",
            remedy="Use numbers of at most 64 bits, text, times or bytes.",
        ) from error


def _time(value: Any) -> str | float | None:
    """Return a date or a time as text, in UTC where it has a time zone; a span as seconds.

    Raises AttributeError for what is none.
    """
    if value is None:
        return None
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if not isinstance(value, datetime.datetime):
        return value.isoformat()
    if value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    return value.isoformat(" ")


_NUMBERS, _TEXT, _BYTES = "numbers", "text", "bytes"
_CALLED = {int: _NUMBERS, float: _NUMBERS, str: _TEXT, bytes: _BYTES}
_ARROW: Mapping[frozenset[type], pa.DataType] = {
    frozenset(): pa.null(),
    frozenset([int]): pa.int64(),
    frozenset([float]): pa.float64(),
    frozenset([int, float]): pa.float64(),
    frozenset([str]): pa.string(),
    frozenset([bytes]): pa.binary(),
}


def _typed(values: list[Any], text: str) -> pa.Array:
    """Return values as a column of one type. Raises InvalidInput where they are of several."""
    kinds = frozenset(map(type, values)) - {type(None)}
    if kinds not in _ARROW:
        called = sorted({_CALLED[kind] for kind in kinds})
        why = f"The SQL gives {' in some rows and '.join(called)} in others."
        raise InvalidInput(why, where=_place(text), remedy=_CASTS)
    try:
        return pa.array(values, _ARROW[kinds])
    except pa.ArrowInvalid as error:
        why = f"A whole number loses digits beside the real ones of other rows: {error}."
        raise InvalidInput(why, where=_place(text), remedy=_CASTS) from error


_CASTS = "Write CAST(... AS TEXT) or CAST(... AS REAL)."


def _refused(why: str, text: str) -> InvalidInput:
    return InvalidInput(
        f"The SQL is not taken: {why}.",
        where=_place(text),
        remedy="Write one expression over the cells of a row, such as 'price * amount', with "
        "functions of numbers, text, dates or JSON.",
    )


def _place(text: str) -> str:
    return f"sql {text[:60]!r}"
