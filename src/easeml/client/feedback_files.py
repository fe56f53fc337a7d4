"""What was true of rows, read from the text of a file: CSV, JSON or JSON lines."""

import csv
import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

from pydantic import ValidationError

from easeml.client.parts import error_in_table
from easeml.contract.production import Feedback
from easeml.errors import InvalidInput

_AT_ONCE = 10_000  # words on rows in one request
_DELIMITERS = ",;\t"
_NAMES = ("request_id", "row", "key")
_FORMS = (
    "Give columns request_id, row and value, or key and value; as CSV, JSON or JSON lines. "
    "`easeml predict --name-rows` writes the request_id and row of each prediction."
)


def parts_of(
    content: str,
    where: str,
    value: str = "value",
    *,
    target: str = "",
    at_random: bool | None = None,
) -> Iterator[Feedback]:
    """Give the words on rows that a text holds, as many at a time as one request takes.

    ``value``: the column that says what was true; where there is none, the column ``target`` does.
    Other columns are left out: the file may be one of predictions. ``at_random``: all of its rows
    were drawn at random; false withdraws that. Raises ``InvalidInput`` for what cannot be read,
    naming the file (``where``) or the row, from 0.
    """
    rows = _read(content, where)
    value = _column(rows, value, target, where)
    told = []
    for row in rows:
        named = _named(row, value)
        says_so = at_random is not None and isinstance(named, dict)
        told.append({**named, "at_random": at_random} if says_so else named)
    for start in range(0, max(1, len(told)), _AT_ONCE):
        yield _checked(told[start : start + _AT_ONCE], start, value)


@contextmanager
def told_of_part(start: int) -> Iterator[None]:
    """Let what one part of a file is refused for name rows of the file, and what was kept before.

    ``start``: the row of the file that the part begins with.
    """
    try:
        yield
    except InvalidInput as error:
        if start == 0:
            raise
        found = error_in_table(error, start)
        kept = f"The {start:,} rows before are kept; they may be sent again."
        raise InvalidInput(
            f"{found.message} {kept}", where=found.where, remedy=found.remedy
        ) from error


def _read(content: str, where: str) -> list[dict[str, Any]]:
    lines = content.splitlines()
    try:
        if content.lstrip().startswith("["):
            return json.loads(content)
        if content.lstrip().startswith("{"):
            return list(map(json.loads, filter(str.strip, lines)))
    except json.JSONDecodeError as error:
        raise InvalidInput(f"This is not JSON: {error}.", where=where, remedy=_FORMS) from error
    header = lines[0] if lines else ""
    delimiter = max(_DELIMITERS, key=header.count)  # spreadsheets of many countries write ;
    return list(csv.DictReader(lines, delimiter=delimiter))


def _column(rows: list[Any], value: str, target: str, where: str) -> str:
    """Return the column that says what was true; raises InvalidInput where no row has one."""
    names = dict.fromkeys(chain.from_iterable(filter(_is_row, rows)))
    found = next(filter(names.__contains__, (value, target)), "")
    if found or not names:
        return found or value
    raise InvalidInput(
        f"There is no {value!r}.",
        where=where,
        remedy=f"Say which column tells what was true (--value COLUMN): "
        f"{', '.join(filter(None, names))}. {_FORMS}",
    )


def _is_row(row: Any) -> bool:
    return isinstance(row, dict)


def _named(row: Any, value: str) -> Any:
    """Return what names a row and says what was true of it; what is no row is told later.

    Predictions of rows with a key may have both names: the request is told.
    """
    if not _is_row(row):
        return row
    found = {name: row[name] for name in _NAMES if row.get(name) not in ("", None)}
    if found.get("request_id"):
        found.pop("key", None)
    return {**found, "value": row[value]} if row.get(value) is not None else found


def _checked(told: list[dict[str, Any]], start: int, value: str) -> Feedback:
    """Return rows of feedback as they are sent; raises InvalidInput naming the row, from 0."""
    try:
        return Feedback.model_validate(told)
    except ValidationError as error:
        first = error.errors()[0]
        place = next(iter(first["loc"]), 0)
        number = start + place if isinstance(place, int) else start
        said = first["msg"].removeprefix("Value error, ")
        if first["type"] == "missing":
            lacking = first["loc"][-1]
            column = value if lacking == "value" else lacking
            said = f"There is no {column!r}."
        raise InvalidInput(said, where=f"row {number}", remedy=_FORMS) from error
