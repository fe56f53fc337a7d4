"""Totals and remarks below a text table whose rows end early: ``Total;;;1.234`` of eleven columns."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from easeml.data.readers.headings import MOST_BELOW, begins_as_total
from easeml.data.readers.layout import Layout

_TAIL = 1 << 16  # bytes of the end of a file that are looked at
_LINE_ENDS = "\r\n"


def without_short_end(text: str, layout: Layout) -> tuple[str, list[str]]:
    """Return a text table without such rows at its end, and how each of them begins.

    A total begins with such a word. A remark is one cell of several words in a table of three or
    more columns. Both have fewer cells than the header; all else of another width is an error of
    the table, and stays. So does a line with quotes: it may be the end of a cell of several lines.
    """
    kept = len(text.rstrip(_LINE_ENDS))
    below: list[str] = []
    while len(below) < MOST_BELOW:
        start = max(text.rfind(end, 0, kept) for end in _LINE_ENDS) + 1
        first = _short_below(text[start:kept], layout)
        if not first or not start:
            break
        below.append(first)
        kept = _end_before(text, start)
    return (f"{text[:kept]}\n", below[::-1]) if below else (text, [])


def has_short_end(path: Path, layout: Layout) -> bool:
    """Tell whether a UTF-8 file ends with such rows."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL))
        tail = file.read().decode("utf-8", "ignore")
    _, below = without_short_end(tail, layout)
    return bool(below)


def _end_before(text: str, start: int) -> int:
    """Return where the line before ends, without the line ends between."""
    while start and text[start - 1] in _LINE_ENDS:
        start -= 1
    return start


def _short_below(line: str, layout: Layout) -> str:
    """Return the first cell of a line that is such a row; nothing of any other."""
    if '"' in line:
        return ""
    for row in csv.reader([line], delimiter=layout.delimiter):
        cells = list(map(str.strip, row))
        if _is_short(cells, len(layout.names)):
            return next(filter(None, cells))
    return ""


def _is_short(cells: Sequence[str], width: int) -> bool:
    if len(cells) >= width or not any(cells):
        return False
    is_remark = len(cells) == 1 and " " in cells[0] and width > 2
    return is_remark or begins_as_total(cells)
