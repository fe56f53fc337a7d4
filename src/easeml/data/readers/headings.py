"""What stands around the rows of a sheet: names in two rows, totals and remarks below."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from itertools import takewhile
from operator import itemgetter

from easeml.data.errors import first_of
from easeml.data.readers.header import are_numbers, is_value

_LOOKED_AT = 50  # rows below the names
MOST_BELOW = 5  # totals and remarks
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
    are_named = all(map(any, zip(upper, lower, strict=True)))
    spans = "" in upper[1:]
    if not are_named or not spans:
        return False
    columns = filter(_are_numbers_below, zip(lower, *below, strict=True))
    names = list(filter(None, map(itemgetter(0), columns)))
    return bool(names) and not any(map(is_value, names))


def _are_numbers_below(column: Row) -> bool:
    """Whether the values below a name are numbers."""
    return are_numbers(column[1:])


def joined_names(upper: Row, lower: Row) -> list[str]:
    """Return each name behind the heading over it. A heading without a name below is one itself."""
    names = []
    heading = ""
    for above, name in zip(upper, lower, strict=True):
        heading = above or heading
        names.append(f"{heading} {name}".strip())
    return names


def rows_below(rows: Sequence[Row]) -> list[str]:
    """Return how each of the last rows begins that is no row of the table: totals and remarks.

    A total begins with such a word, and has an empty cell. A remark is one cell of several words
    beside two or more that are empty, in a column whose other cells have one word. ``rows``: the
    last ones, ``LAST`` or all there are; the first of them stays. Empty rows beside these go with
    them, and begin with nothing.
    """
    columns = zip(*rows[:-MOST_BELOW] or rows, strict=True)
    wordy = list(map(_has_words, columns))
    last_first = reversed(rows[1:][-MOST_BELOW:])
    below = list(takewhile(partial(_is_below, wordy), last_first))
    beginnings = list(map("".join, map(_filled_first, below)))
    return beginnings[::-1] if any(beginnings) else []


def _has_words(cells: Sequence[str]) -> bool:
    """Whether most of the cells that are filled have several words."""
    filled = list(filter(None, cells))
    several = [cell for cell in filled if " " in cell]
    return 2 * len(several) > len(filled)


def _filled_first(row: Row) -> list[str]:
    """The first cell with something in it, if any."""
    return list(filter(None, row))[:1]


def _is_below(wordy: Sequence[bool], row: Row) -> bool:
    """Whether a row is a total, a remark or empty; else it is one of the table."""
    filled = list(filter(None, row))
    if len(filled) in (0, len(row)):
        return not filled

    if begins_as_total(filled):
        return True
    first = filled[0]
    is_alone = (len(filled), " " in first) == (1, True)
    is_beside_words = wordy[row.index(first)]
    return is_alone and len(row) > 2 and not is_beside_words


def begins_as_total(cells: Sequence[str]) -> bool:
    """Whether the first cell with something in it says that a row is a total."""
    first = next(filter(None, cells))
    return _TOTALS.fullmatch(first.rstrip(" :")) is not None


def told_of_below(below: Sequence[str]) -> str:
    """Return what is said of rows that were left out; nothing of none."""
    if not below:
        return ""
    return f"Below the table there is text that was left out: {first_of(list(filter(None, below)), 3)}."
