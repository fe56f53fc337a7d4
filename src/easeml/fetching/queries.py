"""Fetching the rows of a query on a database that the provider connected, and changing nothing there.

A query runs as ``DECLARE CURSOR FOR`` it, by the protocol that takes one statement only, in a
transaction that reads: what is no question is refused by the server's own parser. SQLite asks an
authorizer before each step. Neither may be the database of easeml itself.
"""

from __future__ import annotations

import csv
import io
import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from easeml.errors import InvalidInput, NotAllowed, TooLarge, Unreachable
from easeml.fetching.connections import Connection
from easeml.fetching.origin import Origin

_AT_ONCE = 2_000
_STEPS = 10_000  # of SQLite's machine between looks at the clock
_OWN_TABLES = ("api_keys", "search_changes", "module_marks")  # of easeml's database
_POWERS = "SELECT rolsuper OR pg_has_role(oid, 'pg_execute_server_program', 'USAGE')" \
    " OR pg_has_role(oid, 'pg_read_server_files', 'USAGE')" \
    " OR pg_has_role(oid, 'pg_write_server_files', 'USAGE')" \
    " FROM pg_roles WHERE rolname = current_user"  # fmt: skip
_IS_OWN = "SELECT count(DISTINCT relname) FROM pg_class WHERE relname = ANY(%s)"
_IS_OWN_SQLITE = "SELECT count(DISTINCT name) FROM sqlite_master WHERE name IN (?, ?, ?)"
_READS = (
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_RECURSIVE,
)
_FUNCTIONS_REFUSED = ("load_extension", "writefile", "readfile", "edit", "fts3_tokenizer")


def rows_of(
    origin: Origin, connection: Connection, seconds: float, most: int
) -> Iterator[Sequence[Any]]:
    """Give the names of the columns, then the rows, at most ``most``.

    Raises ``InvalidInput`` for what is no single question, ``NotAllowed`` for a database that must
    not be asked, ``Unreachable`` for one that does not answer, ``TooLarge`` beyond ``most`` rows.
    """
    ask = _ASKING[origin.parts.scheme]
    for number, row in enumerate(ask(origin, connection, seconds)):
        if number > most:
            raise TooLarge(f"The query has more than {most:,} rows.", remedy="Ask for fewer.")
        yield row


def as_csv(rows: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    """Give rows as CSV, some at a time; NULL is an empty cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for number, row in enumerate(rows):
        writer.writerow(map(_cell, row))
        if number % _AT_ONCE == 0:
            yield text.getvalue().encode()
            text.seek(0)
            text.truncate()
    yield text.getvalue().encode()


def _cell(value: Any) -> Any:
    return _WRITERS.get(type(value), _unchanged)(value)


def _unchanged(value: Any) -> Any:
    return value


def _refuse(_: Any) -> str:
    raise InvalidInput(
        "A column holds bytes, which no table of text can.",
        where="query",
        remedy="Leave it out, or encode it.",
    )


_as_json = partial(json.dumps, default=str)
_WRITERS: dict[type, Callable[[Any], str]] = {
    type(None): lambda _: "",
    bool: lambda value: str(value).lower(),
    date: date.isoformat,
    datetime: datetime.isoformat,
    dict: _as_json,
    list: _as_json,
    bytes: _refuse,
    memoryview: _refuse,
}
"""How values are written, by their types; others are left to the writer of CSV."""


def _postgres(origin: Origin, connection: Connection, seconds: float) -> Iterator[Sequence[Any]]:
    import psycopg

    limit = int(seconds * 1000)
    options = f"-c default_transaction_read_only=on -c statement_timeout={limit}"
    try:
        with psycopg.connect(connection.url, options=options, connect_timeout=10) as link:
            _check_postgres(link)  # its look also fixes that the transaction reads only
            with link.cursor(name="rows") as cursor:
                cursor.itersize = _AT_ONCE
                cursor.execute(origin.query.rstrip(";").encode())
                yield [column.name for column in cursor.description or ()]
                yield from cursor
            link.rollback()
    except psycopg.errors.QueryCanceled:
        raise Unreachable(
            _too_long(seconds), where=origin.address, remedy="Ask your provider."
        ) from None
    except psycopg.OperationalError:
        # What a server says of a connection has its host and user, which are the provider's.
        raise Unreachable(
            "It does not answer.", where=origin.address, remedy="Ask your provider."
        ) from None
    except psycopg.Error as error:
        raise _no_question(str(error.diag.message_primary or type(error).__name__)) from None


def _check_postgres(link: Any) -> None:
    if link.execute(_POWERS).fetchone() != (False,):
        raise NotAllowed(
            "The connection's role can reach the server's files or programs.",
            where="connections.toml",
            remedy="The provider has to name a role that can only read.",
        )
    if link.execute(_IS_OWN, [list(_OWN_TABLES)]).fetchone() == (len(_OWN_TABLES),):
        raise _is_own()


def _sqlite(origin: Origin, connection: Connection, seconds: float) -> Iterator[Sequence[Any]]:
    path = Path("/" + urlsplit(connection.url).path.lstrip("/"))
    end = time.monotonic() + seconds
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as link:
            _check_sqlite(link)
            link.execute("PRAGMA query_only = on")
            link.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
            link.set_authorizer(_may)
            cursor = link.execute(origin.query)
            if cursor.description is None:
                raise _no_question("It asks for no rows.")
            yield [column[0] for column in cursor.description]
            yield from cursor
    except sqlite3.OperationalError as error:
        if time.monotonic() > end:
            raise Unreachable(_too_long(seconds), where=origin.address) from None
        raise _no_question(str(error).replace(str(path), path.name)) from None
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise _no_question(str(error)) from None


def _check_sqlite(link: sqlite3.Connection) -> None:
    if link.execute(_IS_OWN_SQLITE, _OWN_TABLES).fetchone() == (len(_OWN_TABLES),):
        raise _is_own()


def _may(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    """What a query may do: read tables, and call functions that reach no file."""
    is_call = action == sqlite3.SQLITE_FUNCTION and second not in _FUNCTIONS_REFUSED
    if is_call or action in _READS:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


_ASKING = {"postgresql": _postgres, "sqlite": _sqlite}


def _too_long(seconds: float) -> str:
    return f"The query took longer than {seconds:,.0f} s."


def _no_question(why: str) -> InvalidInput:
    return InvalidInput(
        f"The database does not take the query: {why}",
        where="query",
        remedy='Write one question that changes nothing: "SELECT ... FROM ...".',
    )


def _is_own() -> NotAllowed:
    return NotAllowed(
        "This is easeml's own database, which no query may ask.",
        where="connections.toml",
        remedy="The provider has to name another.",
    )
