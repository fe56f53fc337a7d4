"""Tables in JSON: an object a line, or a list of objects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from easeml.data.errors import DatasetError
from easeml.data.readers.source import Source
from easeml.data.types.text_tables import check_names

if TYPE_CHECKING:
    import pyarrow as pa

_LISTS = ("rows", "data", "records", "instances")  # where an object holds the rows
_ROWS = 1 << 14  # that are held as Python values
_REMEDY = 'Write one object a line, say {"age": 3}, or a list of such objects.'


def read_json(source: Source) -> pa.Table:
    """Read JSON lines, some at a time, or a JSON list of objects.

    Nested objects become columns ``outer.inner``; lists, JSON text.

    Raises:
        DatasetError: naming the line, or the row, that is no object.
    """
    import pyarrow as pa

    columns: dict[str, list[pa.Array]] = {}  # chunks by name
    count = 0
    rows = _rows(source)
    while some := list(islice(rows, _ROWS)):
        cells = _columns(some, source.name)
        columns |= {name: [pa.repeat("", count)] for name in cells if name not in columns}
        for name, chunks in columns.items():
            chunks.append(
                pa.array(cells[name], pa.string()) if name in cells else pa.repeat("", len(some))
            )
        count += len(some)
    if not count:
        raise DatasetError(
            "there is no row.",
            where=source.name,
            remedy=_REMEDY,
        )
    names = check_names([*columns], source.name)
    return pa.table([pa.chunked_array(chunks, pa.string()) for chunks in columns.values()], names)


def _columns(rows: list[tuple[str, Any]], name: str) -> dict[str, list[str]]:
    """The cells of some rows by column, in the order in which the columns first appear."""
    columns: dict[str, list[str]] = {}
    for at, (where, row) in enumerate(rows):
        if not isinstance(row, dict):
            raise DatasetError(
                "this is no JSON object.",
                where=f"{name}, {where}",
                remedy=_REMEDY,
            )
        for column, value in _flat(row, ""):
            if column not in columns:
                columns[column] = [""] * len(rows)
            columns[column][at] = _text(value)
    return columns


def _rows(source: Source) -> Iterator[tuple[str, Any]]:
    """The rows with their places."""
    lines = (
        (number, line)
        for number, line in enumerate(source.lines(), 1)
        if line.strip(b" \t\r\n\xef\xbb\xbf")
    )
    first = next(lines, None)
    if first is None:
        return
    if _is_whole(_decoded(first[1], source.name)):
        document = _listed(_decoded(source.read(), source.name), source.name)
        yield from ((f"row {number}", row) for number, row in enumerate(document, 1))
        return
    for number, line in chain([first], lines):
        where = f"{source.name}, line {number}"
        yield f"line {number}", _parsed(_decoded(line, where), where)


def _decoded(data: bytes, where: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DatasetError(
            "this is not UTF-8.",
            where=where,
            remedy="Save it as UTF-8.",
        ) from error


def _is_whole(first: str) -> bool:
    """Whether, by its first line, the text is one document rather than one a line: a list, or what
    holds one.
    """
    first = first.strip()
    if first.startswith("["):
        return True
    try:
        row = json.loads(first)
    except (ValueError, RecursionError):
        return first == "{" or first.endswith(("[", ","))
    return (
        isinstance(row, dict)
        and len(row) == 1
        and any(isinstance(row.get(key), list) for key in _LISTS)
    )


def _listed(text: str, name: str) -> list[Any]:
    document = _parsed(text, name)
    if isinstance(document, dict):
        key = next((key for key in _LISTS if isinstance(document.get(key), list)), None)
        document = [document] if key is None else document[key]
    return document


def _parsed(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DatasetError(
            f"this is no JSON: {error}.",
            where=where,
            remedy=_REMEDY,
        ) from error


def _flat(row: dict[str, Any], root: str) -> Iterator[tuple[str, Any]]:
    for name, value in row.items():
        if isinstance(value, dict) and value and root.count(".") < 20:
            yield from _flat(value, f"{root}{name}.")
        else:
            yield f"{root}{name}", value


def _text(value: Any) -> str:
    if value is None or (isinstance(value, float) and value in (float("inf"), float("-inf"))):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value.strip().encode("utf-8", "replace").decode()
    return str(value) if isinstance(value, int | float) else json.dumps(value)
