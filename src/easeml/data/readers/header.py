"""Whether the first row of a text table holds the names of its columns, or values like the others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import filterfalse

from easeml.data.types.values import is_number

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

    whole_rows = [row for row in rows if len(row) == len(first)]
    columns = list(zip(first, *whole_rows, strict=True))
    cells = [cell.strip() for cell, *values in columns if are_numbers(values)]
    numbers = list(filter(is_number, cells))
    if not numbers or not all(map(is_value, cells)):
        return True

    different = set(filter(str.isdigit, numbers))
    if len(different) < len(numbers):
        return False

    # A whole number or two may be names, but not beside words that are values.
    occurs_below = {word in below for word, *below in columns if not is_value(word.strip())}
    return occurs_below != {True}


def _is_missing(cell: str) -> bool:
    return cell.lower() in _MISSING


def is_value(cell: str) -> bool:
    """Whether a cell is a number, or says that a value is missing."""
    return _is_missing(cell) or is_number(cell)


def are_numbers(values: Sequence[str]) -> bool:
    """Whether nearly all values of a column are numbers, and some are there."""
    present = list(filterfalse(_is_missing, map(str.strip, values)))
    numbers = list(filter(is_number, present))
    return len(numbers) >= max(1, _NUMBERS * len(present))
