"""Tables in JSON: an object a line, or a list of objects."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import chain, count, islice
from math import isinf
from typing import TYPE_CHECKING, Any

from easeml.data.errors import DatasetError
from easeml.data.readers.sliced import SlicedTable
from easeml.data.readers.source import LARGEST, Source
from easeml.data.types.text_tables import MOST_COLUMNS, check_names

if TYPE_CHECKING:
    import pyarrow as pa

_LISTS = ("rows", "data", "records", "instances")  # where an object holds the rows
_ROWS = 1 << 14  # that are held as Python values
_CELLS = 1 << 20  # likewise, of a table that is read in parts
_LONGEST = 64 << 20  # bytes that are read at once of one
_DEEPEST = 20  # objects in objects that are columns of their own
_GOES_ON = re.compile(r"\[.*|\{|.*[\[,]", re.DOTALL)  # a first line of several, or a list
_REMEDY = 'Write one object a line, say {"age": 3}, or a list of such objects.'


def read_json(source: Source) -> pa.Table:
    """Read JSON lines, some at a time, or a JSON list of objects.

    Nested objects become columns ``outer.inner``; lists, JSON text.

    Raises:
        DatasetError: naming the line, or the row, that is no object.
    """
    import pyarrow as pa

    columns: dict[str, list[pa.Array]] = {}  # chunks by name
    before = 0
    rows = _rows(source)
    while some := list(islice(rows, _ROWS)):
        cells = _columns(some, source.name)
        for name in cells:
            # A column that appears late is empty in the rows before.
            columns.setdefault(name, [pa.repeat("", before)])
        empty = pa.repeat("", len(some))
        for name, chunks in columns.items():
            chunks.append(cells.get(name, empty))
        before += len(some)
    _check_count(before, source.name)
    names = check_names([*columns], source.name)
    arrays = [pa.chunked_array(chunks, pa.string()) for chunks in columns.values()]
    return pa.table(arrays, names)


def open_json(source: Source) -> SlicedTable:
    """As ``read_json``, of a table that is not held: it is read through once here, for its columns
    and the number of its rows, and again for its parts.

    A list of objects cannot be read in parts. Raises ``DatasetError`` also where it, or a line, is
    longer than 64 MiB.
    """
    cells: dict[str, Any] = {}  # the last ones by column, in the order in which columns appear
    rows = 0
    for where, row in _rows(source, _LONGEST):
        cells.update(_flat(_checked(row, where, source.name), ""))
        rows += 1
        if len(cells) > MOST_COLUMNS:
            break
    _check_count(rows, source.name)
    names = [*cells]
    checked = check_names(names, source.name)
    return SlicedTable(tuple(checked), rows, partial(_batches, source, names))


def _batches(source: Source, names: list[str]) -> Iterator[pa.RecordBatch]:
    """The rows of a file that has these columns, some at a time."""
    import pyarrow as pa

    at_once = max(1, min(_ROWS, _CELLS // len(names)))
    rows = _rows(source, _LONGEST)
    while some := list(islice(rows, at_once)):
        cells = _columns(some, source.name)
        empty = pa.repeat("", len(some))
        columns = [cells.get(name, empty) for name in names]
        yield pa.RecordBatch.from_arrays(columns, names)


def _check_count(rows: int, name: str) -> None:
    if not rows:
        raise DatasetError(
            "there is no row.",
            where=name,
            remedy=_REMEDY,
        )


def _checked(row: Any, where: str, name: str) -> dict[str, Any]:
    """The row, which has to be an object."""
    if isinstance(row, dict):
        return row
    raise DatasetError(
        "this is not a JSON object.",
        where=f"{name}, {where}",
        remedy=_REMEDY,
    )


def _columns(rows: list[tuple[str, Any]], name: str) -> dict[str, pa.Array]:
    """The cells of some rows by column, in the order in which the columns first appear."""
    import pyarrow as pa

    columns: defaultdict[str, list[str]] = defaultdict(lambda: [""] * len(rows))
    for at, (where, row) in enumerate(rows):
        for column, value in _flat(_checked(row, where, name), ""):
            columns[column][at] = _text(value)
    return {column: pa.array(cells, pa.string()) for column, cells in columns.items()}


def _rows(source: Source, longest: int = LARGEST) -> Iterator[tuple[str, Any]]:
    """The rows with their places. ``longest``: bytes of a line, or of a list."""
    lines = _lines(source, longest)
    first = next(lines, None)
    if first is None:
        return
    if _is_whole(_decoded(first[1], source.name)):
        content = _content(source, longest)
        document = _listed(_decoded(content, source.name), source.name)
        yield from zip(map("row {}".format, count()), document, strict=False)
        return

    for number, line in chain([first], lines):
        where = f"{source.name}, line {number}"
        yield f"line {number}", _parsed(_decoded(line, where), where)


def _content(source: Source, longest: int) -> bytes:
    """All of a file that is one document."""
    blocks = []
    size = 0
    for block in source.blocks():
        blocks.append(block)
        size += len(block)
        if size > longest:
            raise _too_long(source.name, longest)
    return b"".join(blocks)


def _too_long(where: str, longest: int) -> DatasetError:
    return DatasetError(
        f"a list of objects, or a line, of more than {longest >> 20} MiB cannot be read in parts.",
        where=where,
        remedy='Write JSON lines, one object a line, say {"age": 3}.',
    )


def _lines(source: Source, longest: int) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers."""
    blank = b" \t\r\n\xef\xbb\xbf"
    for number, line in enumerate(source.lines(longest), 1):
        if len(line) > longest:
            raise _too_long(f"{source.name}, line {number}", longest)
        if line.strip(blank):
            yield number, line


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
    """Whether, by its first line, the text is one document rather than one a line.

    Such a document is a list, or an object that holds one.
    """
    first = first.strip()
    if _GOES_ON.fullmatch(first):
        return True
    with suppress(ValueError, RecursionError):
        row = json.loads(first)
        return isinstance(row, dict) and len(row) == 1 and _list_key(row) is not None
    return False


def _list_key(document: dict[str, Any]) -> str | None:
    """The key under which an object holds the rows."""
    return next((key for key in _LISTS if isinstance(document.get(key), list)), None)


def _listed(text: str, name: str) -> list[Any]:
    document = _parsed(text, name)
    if not isinstance(document, dict):
        return document

    key = _list_key(document)
    if key is None:
        return [document]
    return document[key]


def _parsed(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DatasetError(
            f"this is not JSON: {error}.",
            where=where,
            remedy=_REMEDY,
        ) from error


def _flat(row: dict[str, Any], root: str) -> Iterator[tuple[str, Any]]:
    """The values of a row with their names, those of objects in it as ``outer.inner``."""
    for name, value in row.items():
        is_divided = isinstance(value, dict) and value and root.count(".") < _DEEPEST
        if is_divided:
            yield from _flat(value, f"{root}{name}.")
        else:
            yield f"{root}{name}", value


def _text(value: Any) -> str:
    """A value as a cell of a table of text."""
    return _WRITERS.get(type(value), json.dumps)(value)


def _stripped(text: str) -> str:
    return text.strip().encode("utf-8", "replace").decode()


def _finite(number: float) -> str:
    return "" if isinf(number) else str(number)


_WRITERS: dict[type, Callable[[Any], str]] = {
    type(None): lambda _: "",
    str: _stripped,
    int: str,
    float: _finite,
}
"""How values of JSON are written as cells; others are JSON text."""
