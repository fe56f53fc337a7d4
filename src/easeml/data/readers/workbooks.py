"""Workbooks: Excel (.xlsx, .xlsm, .xlsb, .xls) and OpenDocument (.ods)."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta
from typing import IO, TYPE_CHECKING, Any

from easeml.data.errors import DatasetError, refusing
from easeml.data.readers.binary_sheets import extents
from easeml.data.readers.headings import (
    LAST,
    has_two_rows_of_names,
    joined_names,
    rows_below,
    told_of_below,
)
from easeml.data.readers.source import Source
from easeml.data.types.text_tables import check_names
from easeml.data.types.values import SHEET_ERRORS, number_text

if TYPE_CHECKING:
    import pyarrow as pa
    import python_calamine as calamine

_LARGEST = 1 << 30  # bytes of a workbook after decompression
_SMALL = 0.1  # share of the cells of the largest sheet below which one is a cover or a list
_MOST_CELLS = 30_000_000
_CELL = re.compile(rb' r="([A-Z]{1,3})(\d{1,7})"')
_SHEET = re.compile(r"xl/worksheets/.*\.(?P<form>xml|bin)", re.DOTALL)
_SheetRows = list[list[Any]]


def read_excel(source: Source) -> pa.Table:
    """Read a sheet that holds a table, without empty rows and titles above the header.

    ``source.table``: which one of these, from 1; None: the first that is not far smaller than the
    largest. What was left out around the table is in the ``note``.

    Raises:
        DatasetError: if it is no workbook, or holds no table, or none of this number.
    """
    filled = {}
    for name, rows in _sheets(source).items():
        kept = list(filter(_width, rows))
        if len(kept) > 1:
            filled[name] = kept
    if not filled:
        raise DatasetError(
            "no sheet holds a header and a row.",
            where=source.name,
            remedy="Put the table on a sheet.",
        )

    number = _usual(list(filled.values())) if source.table is None else source.table
    names = ", ".join(f"{place} '{name}'" for place, name in enumerate(filled, 1))
    if not 1 <= number <= len(filled):
        raise DatasetError(
            f"there is no table {number}.", where=source.name, remedy=f"Sheets with rows: {names}."
        )
    sheet, rows = list(filled.items())[number - 1]
    table, notes = _table(_below_titles(rows), f"{source.name}, sheet '{sheet}'")
    metadata: dict[str | bytes, str] = {}
    if len(filled) > 1:
        metadata["several"] = "sheets"
        notes.append(
            f"The workbook has {len(filled)} sheets with rows; '{sheet}' was read. "
            f"There are {names}; another one is chosen by its number."
        )
    metadata["note"] = " ".join(filter(None, notes))
    return table.replace_schema_metadata(metadata)


def _usual(sheets: list[_SheetRows]) -> int:
    """The number of the first sheet that is not far smaller than the largest: no cover, no list."""
    import numpy as np

    sizes = np.array(list(map(_size, sheets)))
    return 1 + int(np.argmax(sizes >= _SMALL * sizes.max()))


def _size(rows: _SheetRows) -> int:
    """How many cells of a sheet have something in them."""
    return sum(map(_filled, rows))


def _filled(row: list[Any]) -> int:
    """How many cells have something in them."""
    return len(row) - row.count("")


def _sheets(source: Source) -> dict[str, _SheetRows]:
    """The rows of every sheet, by name. Raises DatasetError."""
    said = "the workbook cannot be read ({error})."
    # Errors of many kinds are raised for what is no workbook, panics among them.
    with refusing(Exception, said, source.name, "Save it again, or as CSV.", longest=200):
        _check_size(source)
        return _rows_by_sheet(source)


def _rows_by_sheet(source: Source) -> dict[str, _SheetRows]:
    import python_calamine as calamine

    with source.open() as handle:
        book = calamine.load_workbook(handle)
        sheets = map(book.get_sheet_by_name, book.sheet_names)
        return {sheet.name: _cells(sheet, source.name) for sheet in sheets}


def _table(rows: _SheetRows, where: str) -> tuple[pa.Table, list[str]]:
    """The table of some rows, the first of which are the names of the columns.

    Beside it what is to be told: of names in two rows, and of totals and remarks below the table.
    """
    import pyarrow as pa

    width = max(map(_width, rows))
    texts = [list(map(_text, row[:width])) for row in rows]
    notes = []
    if has_two_rows_of_names(texts):
        upper, lower, *values = texts
        texts = [joined_names(upper, lower), *values]
        notes.append("The names of the columns stand in two rows, and were joined.")
    names, *values = texts
    below = rows_below(values[-LAST:])
    del values[len(values) - len(below) :]
    notes.append(told_of_below(below))
    columns = [pa.array(cells, pa.string()) for cells in zip(*values, strict=True)]
    return pa.table(columns, check_names(names, where)), notes


def _cells(sheet: calamine.CalamineSheet, where: str) -> _SheetRows:
    """Return the rows of a sheet, unless far cells make it too large.

    The library holds a sheet of any format in a few bytes a cell; as Python's values it takes many
    times as much.
    """
    _check_cells(sheet.height, sheet.width, where)
    return sheet.to_python(skip_empty_area=True)


def _check_size(source: Source) -> None:
    """Raise DatasetError for a workbook whose sheets are too large to be held as tables.

    A sheet is held with all cells up to its last row and column, so that two far cells fill memory.
    """
    if not source.head().startswith(b"PK"):
        return
    with source.open() as handle, zipfile.ZipFile(handle) as book:
        unpacked = sum(member.file_size for member in book.infolist())
        if unpacked > _LARGEST:
            raise DatasetError(
                f"the workbook unpacks to more than {_LARGEST >> 20} MiB.",
                where=source.name,
                remedy="Save the table as CSV.",
            )
        for name in book.namelist():
            _check_sheet(book, name, source.name)


def _check_sheet(book: zipfile.ZipFile, name: str, where: str) -> None:
    """Check the extent of a sheet, which is written as XML or in Excel's binary form.

    Other members of the workbook are let be.
    """
    found = _SHEET.fullmatch(name)
    if found is None:
        return
    with book.open(name) as sheet:
        for rows, columns in _EXTENTS[found["form"]](sheet):
            _check_cells(rows, columns, where)


def _extents_of_xml(sheet: IO[bytes]) -> Iterator[tuple[int, int]]:
    """Yield how many rows and columns a sheet has, as far as it was read, after each block."""
    rows = columns = 0
    rest = b""
    while block := sheet.read(1 << 20):
        text = rest + block
        for letters, number in _CELL.findall(text):
            columns = max(columns, _column_number(letters))
            rows = max(rows, int(number))
        rest = text[-32:]  # a reference may be cut by the end of a block
        yield rows, columns


_EXTENTS = {"xml": _extents_of_xml, "bin": extents}


def _check_cells(rows: int, columns: int, name: str) -> None:
    if rows * columns > _MOST_CELLS:
        raise DatasetError(
            f"a sheet reaches to row {rows:,} and column {columns:,}, which is too much to hold.",
            where=name,
            remedy="Delete the far cells (or all but the table), or save the table as CSV.",
        )


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number


def _width(row: list[Any]) -> int:
    """The place of the last cell with something in it, from 1; 0 for an empty row."""
    return max((place for place, cell in enumerate(row, 1) if cell != ""), default=0)


def _below_titles(rows: _SheetRows) -> _SheetRows:
    """The rows from the header on: the first with at least half as many cells as the widest."""
    import numpy as np

    filled = np.array(list(map(_filled, rows)))
    start = int(np.argmax(2 * filled >= filled.max()))
    has_rows = start + 1 < len(rows)
    return rows[start:] if has_rows else rows


def _text(cell: Any) -> str:
    return _WRITERS.get(type(cell), _plain)(cell)


def _plain(cell: object) -> str:
    """Text, without blanks around it; empty for an error of a formula."""
    text = str(cell).strip()
    return "" if text.lower() in SHEET_ERRORS else text


def _moment(cell: datetime) -> str:
    """A moment in ISO 8601; one at midnight is a day."""
    is_day = cell.time() == time()
    return cell.date().isoformat() if is_day else cell.isoformat()


_WRITERS: dict[type, Callable[[Any], str]] = {
    bool: lambda cell: str(cell).lower(),
    float: number_text,
    datetime: _moment,
    date: date.isoformat,
    time: time.isoformat,
    timedelta: lambda cell: repr(cell.total_seconds()),
}
"""How the cells of a sheet are written, by their types; others are text."""
