"""Workbooks: Excel (.xlsx, .xlsm, .xlsb, .xls) and OpenDocument (.ods)."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from easeml.data.errors import DatasetError
from easeml.data.readers.source import Source
from easeml.data.types.text_tables import HEADER, check_names

if TYPE_CHECKING:
    import pyarrow as pa

_ERRORS = frozenset({"#N/A", "#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!"})


def read_excel(source: Source) -> pa.Table:
    """Read the first sheet that holds a table; lines above the header (titles) and empty rows are
    left out.

    Raises:
        DatasetError: if it is no workbook, or holds no table.
    """
    import pyarrow as pa
    import python_calamine as calamine

    try:
        with source.open() as handle:
            book = calamine.load_workbook(handle)
            sheets = [
                (name, book.get_sheet_by_name(name).to_python(skip_empty_area=True))
                for name in book.sheet_names
            ]
    except (
        Exception
    ) as error:  # the library raises many kinds for what is no workbook, panics among them
        raise DatasetError(
            f"the workbook cannot be read ({str(error)[:200]}).",
            where=source.name,
            remedy="Save it again, or as CSV.",
        ) from error
    filled = [
        (name, rows)
        for name, rows in ((name, _filled(rows)) for name, rows in sheets)
        if len(rows) > 1
    ]
    if not filled:
        raise DatasetError(
            "no sheet holds a header and a row.",
            where=source.name,
            remedy="Put the table on a sheet.",
        )
    sheet, rows = filled[0]
    notes = []
    if len(filled) > 1:
        notes.append(f"The workbook has {len(filled)} sheets with rows; '{sheet}' was read.")
    header, *body = _below_titles(rows)
    width = max(i for row in (header, *body) for i, cell in enumerate(row, 1) if cell != "")
    names = check_names([_text(cell) for cell in header[:width]], f"{source.name}, sheet '{sheet}'")
    columns = [pa.array([_text(row[i]) for row in body], pa.string()) for i in range(width)]
    table = pa.table(columns, names)
    said = {"note": notes[0]} if notes else {}
    return table.replace_schema_metadata({**said, HEADER: "yes"})


def _filled(rows: list[list[Any]]) -> list[list[Any]]:
    return [row for row in rows if any(cell != "" for cell in row)]


def _below_titles(rows: list[list[Any]]) -> list[list[Any]]:
    """The rows from the header on: the first with at least half as many cells as the widest."""
    widths = [sum(cell != "" for cell in row) for row in rows]
    start = next(i for i, width in enumerate(widths) if 2 * width >= max(widths))
    return rows[start:] if start + 1 < len(rows) else rows


def _text(cell: Any) -> str:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    if isinstance(cell, datetime) and cell.time() == time():
        return cell.date().isoformat()
    if isinstance(cell, datetime | date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return repr(cell.total_seconds())
    text = str(cell).strip()
    return "" if text in _ERRORS else text
