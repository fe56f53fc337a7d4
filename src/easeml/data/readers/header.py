"""Whether the first row of a text table holds the names of its columns, or values like the others."""

from __future__ import annotations

import re
from collections.abc import Sequence

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?")
_MISSING = frozenset({"", "na", "n/a", "nan", "null", "?"})
_FEWEST_ROWS = 10  # below which values tell too little
_NUMBERS = 0.9  # share of the values of a column of numbers


def is_header(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row is a header; ``rows``: some of those below it.

    It is none where every column of numbers has a number, or a missing value, in it as well, and
    one of these numbers is no whole one or two are the same: names such as 0, 1, 2 or years are
    whole and differ.
    """
    if len(rows) < _FEWEST_ROWS:
        return True

    cells = [first[place].strip() for place in _number_columns(first, rows)]
    numbers = [cell for cell in cells if _NUMBER.fullmatch(cell)]
    all_values = all(_is_value(cell) for cell in cells)
    if not numbers or not all_values:
        return True

    whole = [cell for cell in numbers if cell.isdigit()]
    differ = len(set(whole)) == len(numbers)
    if not differ:
        return False

    # A whole number or two may be names, but not beside words that are values.
    words = [place for place, cell in enumerate(first) if not _is_value(cell.strip())]
    if not words:
        return True
    return not all(_is_repeated(first[place], place, rows) for place in words)


def _is_repeated(cell: str, place: int, rows: Sequence[Sequence[str]]) -> bool:
    """Whether a cell of the first row is in its column again."""
    return any(row[place] == cell for row in rows)


def _is_value(cell: str) -> bool:
    return cell.lower() in _MISSING or bool(_NUMBER.fullmatch(cell))


def _number_columns(first: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """The places of the columns of which nearly all values are numbers."""
    whole_rows = [row for row in rows if len(row) == len(first)]
    found = []
    for place in range(len(first)):
        given = [row[place].strip() for row in whole_rows]
        present = [cell for cell in given if cell.lower() not in _MISSING]
        numbers = [cell for cell in present if _NUMBER.fullmatch(cell)]
        needed = _NUMBERS * len(present)
        if present and len(numbers) >= needed:
            found.append(place)
    return found
