"""What stands around the rows of a sheet: names in two rows, totals and remarks below."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from easeml.data.errors import first_of
from easeml.data.readers.header import are_numbers, is_value

_LOOKED_AT = 50  # rows below the names
_MOST_BELOW = 5  # totals and remarks
LAST = 60
"""Rows by which it is told what stands below a table."""
_TOTALS = re.compile(
    r"(grand |sub)?-?totals?|sums?|averages?|mean|summe|gesamt(summe)?|insgesamt|zwischensumme|"
    r"mittelwert|durchschnitt|total g[eé]n[eé]ral|somme|moyenne|totale|somma|media|suma",
    re.IGNORECASE,
)

Row = Sequence[str]


def has_two_rows_of_names(rows: Sequence[Row]) -> bool:
    """Whether the first row holds headings over several columns, and the second one their names.

    The first has an empty cell to the right of a heading, where the second has a name. Below a name
    there are numbers in some column, and never beside one.
    """
    if len(rows) < 3:
        return False
    upper, lower, *below = rows[: _LOOKED_AT + 2]
    spans = [not cell and bool(name) for cell, name in zip(upper[1:], lower[1:], strict=True)]
    is_named = all(map(any, zip(upper, lower, strict=True)))
    if not any(spans) or not is_named or not upper[0] + upper[1]:
        return False
    columns = zip(lower, *below, strict=True)
    tops = [top for top, *values in columns if are_numbers(values)]
    names = list(filter(None, tops))
    return bool(names) and not any(map(is_value, names))


def joined_names(upper: Row, lower: Row) -> list[str]:
    """Return each name behind the heading over it. A heading without a name below is one itself."""
    names = []
    heading = ""
    for above, name in zip(upper, lower, strict=True):
        if above:
            heading = above
        if above and not name:
            heading = ""
        names.append(f"{heading} {name}".strip() or above)
    return names


def rows_below(rows: Sequence[Row]) -> list[str]:
    """Return how each of the last rows begins that is no row of the table: totals and remarks.

    A total begins with such a word, and has an empty cell. A remark is one cell of several words
    beside two or more that are empty, in a column whose other cells have one word. ``rows``: the
    last ones, ``LAST`` or all there are; the first of them stays.
    """
    columns = zip(*rows[:-_MOST_BELOW] or rows, strict=True)
    wordy = list(map(_has_words, columns))
    last_first = [_beginning_below(row, wordy) for row in reversed(rows[1:][-_MOST_BELOW:])]
    below = list(takewhile(bool, last_first))
    return below[::-1]


def _has_words(cells: Sequence[str]) -> bool:
    """Whether most of the cells that are filled have several words."""
    filled = list(filter(None, cells))
    several = [cell for cell in filled if " " in cell]
    return 2 * len(several) > len(filled)


def _beginning_below(row: Row, wordy: Sequence[bool]) -> str:
    """The first filled cell of a total or a remark; empty for a row of the table."""
    filled = list(filter(None, row))
    if not filled or len(filled) == len(row):
        return ""
    first = filled[0]
    is_alone = len(filled) == 1 and len(row) > 2
    is_remark = is_alone and " " in first and not wordy[row.index(first)]
    is_total = _TOTALS.fullmatch(first.rstrip(" :")) is not None
    return first if is_remark or is_total else ""


def told_of_below(below: Sequence[str]) -> str:
    """Return what is said of rows that were left out; nothing of none."""
    if not below:
        return ""
    return f"Below the table there is text that was left out: {first_of(below, 3)}."
