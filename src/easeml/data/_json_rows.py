"""Tables in JSON: an object a line, or a list of objects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from easeml.data._errors import DatasetError
from easeml.data._source import Source
from easeml.data._typed import check_names

if TYPE_CHECKING:
    import pyarrow as pa

_LISTS = ("rows", "data", "records", "instances")  # where an object holds the rows
_REMEDY = 'Write one object a line, say {"age": 3}, or a list of such objects.'


def read_json(source: Source) -> pa.Table:
    """Read JSON lines, or a JSON list of objects. Nested objects become columns ``outer.inner``; lists, JSON text.

    Raises:
        DatasetError: naming the line, or the row, that is no object.
    """
    import pyarrow as pa

    columns: dict[str, list[str]] = {}
    count = 0
    for where, row in _rows(source):
        if not isinstance(row, dict):
            raise DatasetError("this is no JSON object.", where=f"{source.name}, {where}", remedy=_REMEDY)
        for name, value in _flat(row, ""):
            cells = columns.setdefault(name, [])
            cells.extend([""] * (count - len(cells)))
            cells[count:] = [_text(value)]
        count += 1
    if not count:
        raise DatasetError("there is no row.", where=source.name, remedy=_REMEDY)
    for cells in columns.values():
        cells.extend([""] * (count - len(cells)))
    return pa.table([pa.array(cells, pa.string()) for cells in columns.values()], check_names([*columns], source.name))


def _rows(source: Source) -> Iterator[tuple[str, Any]]:
    try:
        text = source.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DatasetError("this is not UTF-8.", where=source.name, remedy="Save it as UTF-8.") from error
    lines = text.split("\n")
    if text.lstrip().startswith("[") or _is_whole(lines):
        yield from ((f"row {i}", row) for i, row in enumerate(_listed(text, source.name), 1))
        return
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield f"line {number}", _parsed(line, f"{source.name}, line {number}")


def _is_whole(lines: list[str]) -> bool:
    """Whether the text is one document rather than one a line: its first line is not JSON, or holds the rows."""
    first = next((line for line in lines if line.strip()), "")
    try:
        row = json.loads(first)
    except (ValueError, RecursionError):
        return first.strip() in ("{", "[") or first.rstrip().endswith(("[", ","))
    return isinstance(row, dict) and len(row) == 1 and any(isinstance(row.get(key), list) for key in _LISTS)


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
        raise DatasetError(f"this is no JSON: {error}.", where=where, remedy=_REMEDY) from error


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
