"""Tables of a PDF with lines around their cells: what each row and column holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from easeml.data.readers.found_tables import one_line

if TYPE_CHECKING:
    from pdfplumber.table import CellGroup, Table


def ruled_rows(table: Table) -> list[list[str]]:
    """Return the texts of a table with lines; a cell over several stands in each of them."""
    told = table.extract()
    columns = lefts(table)
    texts: dict[tuple[float, ...], str] = {}
    for row, cells in zip(table.rows, told, strict=True):
        pairs = zip(row.cells, cells, strict=True)
        texts |= {box: text or "" for box, text in pairs if box is not None}

    rows: list[list[str]] = []
    for row, cells in zip(table.rows, told, strict=True):
        if _is_remark(row, columns):
            continue
        middle = (row.bbox[1] + row.bbox[3]) / 2
        made = []
        for left, text in zip(columns, cells, strict=True):
            made.append(_over(texts, left + 1, middle) if text is None else text)
        rows += _divided(made, len(told))
    return list(map(_on_one_line, rows))


def _on_one_line(row: list[str]) -> list[str]:
    """Return a row whose cells have no line breaks."""
    return [one_line([cell]) for cell in row]


def name_rows(table: Table, rows: int) -> int | None:
    """Return how many rows hold names: those with a name over several columns, and the next.

    None where the first has no such name, or nothing would be left.
    """
    columns = lefts(table)
    kept = [row for row in table.rows if not _is_remark(row, columns)]
    widest = []
    for row in kept:
        cells = filter(None, row.cells)
        widths = [len(_covered(cell, columns)) for cell in cells]
        widest.append(max(widths, default=1))
    names = [*widest, 1].index(1) + 1
    return names if 1 < names < rows else None


def _is_remark(row: CellGroup, columns: list[float]) -> bool:
    """Tell whether a row is one cell over all columns: it says something of the table."""
    cells = [cell for cell in row.cells if cell is not None]
    return len(cells) == 1 < len(columns) and _covered(cells[0], columns) == columns


def _covered(cell: tuple[float, ...], columns: list[float]) -> list[float]:
    """Return the columns over which a cell stands, by where they begin."""
    return [left for left in columns if cell[0] <= left < cell[2]]


def lefts(table: Table) -> list[float]:
    """Return where the columns of a table begin, in points."""
    return sorted({cell[0] for cell in table.cells})


def _over(texts: dict[tuple[float, ...], str], x: float, y: float) -> str:
    """Return the text of the cell that covers a point; empty where none does."""
    for (left, top, right, bottom), text in texts.items():
        if left <= x < right and top <= y < bottom:
            return text
    return ""


def _divided(row: list[str], rows: int) -> list[list[str]]:
    """Return a row as several, where lines are drawn between columns only.

    Then a table has a row or two to the library, and all cells with text have as many lines.
    """
    lines = [cell.split("\n") for cell in row]
    counts = set(map(len, filter(any, lines)))
    if rows > 2 or len(counts) != 1 or counts == {1}:
        return [row]
    most = counts.pop()
    columns = [each if len(each) == most else [""] * most for each in lines]
    return list(map(list, zip(*columns, strict=True)))
