"""The text of a table alone: its header and its rows, without what stands around them."""

from __future__ import annotations

import csv
import io
from itertools import compress
from typing import NamedTuple

from easeml.data.errors import refusing
from easeml.data.readers.encoding import OTHER_ENCODINGS, decoded
from easeml.data.readers.headings import LAST, rows_below, told_of_below
from easeml.data.readers.layout import layout_of
from easeml.data.readers.short_rows import without_short_end
from easeml.data.readers.source import Source


class BareText(NamedTuple):
    """``text``: the lines from the header to the last row; ``delimiter``: of their cells.

    ``left_out``: a sentence about the rows below these; nothing of none. ``is_utf_8``: so is the
    file.
    """

    text: str
    delimiter: str
    left_out: str = ""
    is_utf_8: bool = True


def bare_text(data: bytes, name: str) -> BareText:
    """Return the rows of a text table as they are written, which are those that ``read_csv`` gives.

    Raises DatasetError where it is no text, or empty.
    """
    text, encoding = decoded(data, name)
    is_utf_8 = encoding not in OTHER_ENCODINGS
    layout = layout_of(text, Source(name, data=data))
    begun, short = without_short_end(layout.begun(text), layout)
    lines = io.StringIO(begun, newline="").readlines()
    reader = csv.reader(lines, delimiter=layout.delimiter)
    rows: list[list[str]] = []
    ends: list[int] = []  # the number of lines up to each row
    with refusing(csv.Error, "it cannot be read as a table: {error}.", name, "Check quotes."):
        for row in reader:
            rows.append(list(map(str.strip, row)))
            ends.append(reader.line_num)

    are_filled = list(map(any, rows))
    values = list(compress(rows, are_filled))[layout.has_names :]
    last = values[-LAST:]
    widths = set(map(len, last))
    below = rows_below(last) if len(widths) == 1 else []
    left_out = told_of_below([*below, *short])
    if not below:
        return BareText(begun, layout.delimiter, left_out, is_utf_8)
    kept = len(values) + layout.has_names - len(below)
    end = list(compress(ends, are_filled))[kept - 1]
    return BareText("".join(lines[:end]), layout.delimiter, left_out, is_utf_8)
