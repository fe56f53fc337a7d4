"""Workbooks: Excel (.xlsx, .xlsm, .xlsb, .xls) and OpenDocument (.ods)."""

from __future__ import annotations

import re
import zipfile
from datetime import date, datetime, time, timedelta
from typing import IO, TYPE_CHECKING, Any

from easeml.data.errors import DatasetError
from easeml.data.readers.binary_sheets import extents
from easeml.data.readers.source import Source
from easeml.data.types.text_tables import check_names

if TYPE_CHECKING:
    import pyarrow as pa
    import python_calamine as calamine

_LARGEST = 1 << 30  # bytes of a workbook after decompression
_MOST_CELLS = 30_000_000
_CELL = re.compile(rb' r="([A-Z]{1,3})(\d{1,7})"')
_ERRORS = frozenset({"#N/A", "#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!"})
_SheetRows = list[list[Any]]


def read_excel(source: Source) -> pa.Table:
    """Read the first sheet that holds a table, without empty rows and titles above the header.

    Raises:
        DatasetError: if it is no workbook, or holds no table.
    """
    filled = {}
    for name, rows in _sheets(source).items():
        kept = _filled(rows)
        if len(kept) > 1:
            filled[name] = kept
    if not filled:
        raise DatasetError(
            "no sheet holds a header and a row.",
            where=source.name,
            remedy="Put the table on a sheet.",
        )

    sheet, rows = next(iter(filled.items()))
    metadata: dict[str | bytes, str] = {}
    if len(filled) > 1:
        note = f"The workbook has {len(filled)} sheets with rows; '{sheet}' was read."
        metadata["note"] = note
    table = _table(_below_titles(rows), f"{source.name}, sheet '{sheet}'")
    return table.replace_schema_metadata(metadata)


def _sheets(source: Source) -> dict[str, _SheetRows]:
    """The rows of every sheet, by name. Raises DatasetError."""
    try:
        _check_size(source)
        return _rows_by_sheet(source)
    except DatasetError:
        raise
    except _TooManyCells as error:
        raise DatasetError(
            f"a sheet reaches to {error}, which is too much to hold.",
            where=source.name,
            remedy="Delete the far cells (or all but the table), or save the table as CSV.",
        ) from error
    except Exception as error:  # of many kinds for what is no workbook, panics among them
        raise DatasetError(
            f"the workbook cannot be read ({str(error)[:200]}).",
            where=source.name,
            remedy="Save it again, or as CSV.",
        ) from error


def _rows_by_sheet(source: Source) -> dict[str, _SheetRows]:
    import python_calamine as calamine

    with source.open() as handle:
        book = calamine.load_workbook(handle)
        return {name: _cells(book.get_sheet_by_name(name)) for name in book.sheet_names}


def _table(rows: _SheetRows, where: str) -> pa.Table:
    """The table of some rows, the first of which are the names of the columns."""
    import pyarrow as pa

    width = max(map(_width, rows))
    names = []
    columns = []
    for place in range(width):
        name, *cells = [_text(row[place]) for row in rows]
        names.append(name)
        columns.append(pa.array(cells, pa.string()))
    return pa.table(columns, check_names(names, where))


class _TooManyCells(Exception):
    """A sheet has more cells than can be held; how far it reaches."""


def _cells(sheet: calamine.CalamineSheet) -> _SheetRows:
    """Return the rows of a sheet, unless far cells make it too large.

    The library holds a sheet of any format in a few bytes a cell; as Python's values it takes many
    times as much.
    """
    if sheet.height * sheet.width > _MOST_CELLS:
        raise _TooManyCells(f"row {sheet.height:,} and column {sheet.width:,}")
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
        sheets = [name for name in book.namelist() if name.startswith("xl/worksheets/")]
        for name in sheets:
            _check_sheet(book, name, source.name)


def _check_sheet(book: zipfile.ZipFile, name: str, where: str) -> None:
    """Check the extent of a sheet, which is written as XML or in Excel's binary form."""
    if name.endswith(".xml"):
        with book.open(name) as sheet:
            _check_extent(sheet, where)
    elif name.endswith(".bin"):
        with book.open(name) as sheet:
            for rows, columns in extents(sheet):
                _check_cells(rows, columns, where)


def _check_extent(sheet: IO[bytes], name: str) -> None:
    rows = columns = 0
    rest = b""
    while block := sheet.read(1 << 20):
        text = rest + block
        for letters, number in _CELL.findall(text):
            columns = max(columns, _column_number(letters))
            rows = max(rows, int(number))
        rest = text[-32:]  # a reference may be cut by the end of a block
        _check_cells(rows, columns, name)


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


def _filled(rows: _SheetRows) -> _SheetRows:
    """The rows that are not empty."""
    return [row for row in rows if _width(row)]


def _width(row: list[Any]) -> int:
    """The place of the last cell with something in it, from 1; 0 for an empty row."""
    places = [place for place, cell in enumerate(row, 1) if cell != ""]
    return places[-1] if places else 0


def _below_titles(rows: _SheetRows) -> _SheetRows:
    """The rows from the header on: the first with at least half as many cells as the widest."""
    filled = [len(row) - row.count("") for row in rows]
    most = max(filled)
    start = next(place for place, count in enumerate(filled) if 2 * count >= most)
    has_rows = start + 1 < len(rows)
    return rows[start:] if has_rows else rows


def _text(cell: Any) -> str:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        is_exact = cell.is_integer() and abs(cell) < 1e15
        return str(int(cell)) if is_exact else repr(cell)
    if isinstance(cell, datetime | date | time):
        return _moment(cell)
    if isinstance(cell, timedelta):
        return repr(cell.total_seconds())
    text = str(cell).strip()
    return "" if text in _ERRORS else text


def _moment(cell: datetime | date | time) -> str:
    """A moment in ISO 8601; one at midnight is a day."""
    if isinstance(cell, datetime) and cell.time() == time():
        return cell.date().isoformat()
    return cell.isoformat()
