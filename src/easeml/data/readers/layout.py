"""How a text table is divided into cells: its delimiter, and whether its first row holds names."""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from easeml.data.errors import DatasetError
from easeml.data.readers.header import is_header
from easeml.data.readers.source import Source
from easeml.data.types.text_tables import MOST_COLUMNS, check_names

if TYPE_CHECKING:
    import pyarrow as pa

SAMPLE = 1 << 18  # characters looked at to find the delimiter
_DELIMITERS = ",;\t|"
_OTHER_DELIMITERS = "~^#:\x01\x1f "  # that are told, and not read
_FEWEST = 3  # rows by which another delimiter is told
_JUDGED = 200  # rows by which the header is told
_BLANK_LINES = re.compile(r"\A(?: *[\r\n])+")
_MOST_CELLS = 10 * MOST_COLUMNS  # of a header: some of what divides cells may be within quotes


@dataclass(frozen=True)
class Layout:
    """How a text is divided into cells. ``name``: of the file, for messages."""

    name: str
    delimiter: str
    names: list[str]
    has_names: bool  # the first row holds the names

    def begun(self, text: str) -> str:
        """Return how a file begins without what stands before its first cell.

        Tabs between cells may stand for empty ones: then only blank lines go.
        """
        if self.delimiter == "\t":
            return _BLANK_LINES.sub("", text)
        return text.lstrip()

    def schema(self) -> pa.Schema:
        """Columns of text."""
        import pyarrow as pa

        return pa.schema(dict.fromkeys(self.names, pa.string()))


def _delimiter(text: str, name: str) -> str:
    """The delimiter under which most rows of a sample have as many cells as the header.

    The header has at least two.
    """
    candidates = _DELIMITERS
    if ".tsv" in name.lower():
        candidates = "\t" + candidates.replace("\t", "")
    return max(candidates, key=partial(_evenness, text[:SAMPLE]))


def _evenness(sample: str, delimiter: str) -> tuple[float, int]:
    """The share of the rows with as many cells as the header, and how many these are.

    Both are 0 where the header is one cell.
    """
    widths = list(map(len, _records(sample, delimiter, _JUDGED)))
    if not widths or widths[0] < 2:
        return 0.0, 0
    return widths.count(widths[0]) / len(widths), widths[0]


def _records(text: str, delimiter: str, limit: int) -> list[list[str]]:
    """Those with content of the first records of ``text``, before one that is not readable."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    records: list[list[str]] = []
    with contextlib.suppress(csv.Error):
        for record in filter(_has_content, itertools.islice(reader, limit)):
            records.append(record)
    return records


def _has_content(record: Sequence[str]) -> bool:
    return any(map(str.strip, record))


def layout_of(text: str, source: Source) -> Layout:
    """How a text that begins so is divided. Raises DatasetError where it is empty."""
    if not text.strip():
        raise DatasetError(
            "the file is empty.",
            where=source.name,
            remedy="Send a table with a header and rows.",
        )
    delimiter = _delimiter(text, source.name)
    names, has_names = _header(text, delimiter, source)
    return Layout(source.name, delimiter, names, has_names)


def _header(text: str, delimiter: str, source: Source) -> tuple[list[str], bool]:
    """The column names, and whether they are the first record with content.

    ``column N`` where a cell is empty, or where the file has no header.
    """
    start = text[: _header_end(text)]
    _check_width(start, delimiter, source.name)
    records = _records(start, delimiter, 1000)
    if not records:
        raise DatasetError(
            "the header cannot be read.",
            where=source.name,
            remedy="Check the quotes in the first line.",
        )
    first, *rows = records
    has_names = source.header
    if has_names is None:
        has_names = is_header(first, rows[:_JUDGED])
    names = first if has_names else [""] * len(first)
    return check_names(names, source.name), has_names


def _check_width(start: str, delimiter: str, name: str) -> None:
    """Refuse a first line that is far too wide, before it is divided."""
    line = start.lstrip().partition("\n")[0].partition("\r")[0]
    cells = line.count(delimiter)
    if cells > _MOST_CELLS:
        raise DatasetError(
            f"a table has 1 to {MOST_COLUMNS:,} columns, and the first line has {cells:,} cells.",
            where=name,
            remedy="Check the line ends.",
        )


def _header_end(text: str) -> int:
    """Where the sample ends, or the first line with content if that is longer."""
    line_end = text.find("\n", len(text) - len(text.lstrip()))
    if line_end < 0:
        return len(text)
    return max(SAMPLE, line_end + 1)


def other_delimiter(text: str) -> str:
    """Return the sign that seems to separate the cells of a file of one column; empty for none."""
    lines = list(filter(str.strip, text[:SAMPLE].splitlines()[:_JUDGED]))
    if len(lines) < _FEWEST:
        return ""
    return next(filter(partial(_divides, lines), _OTHER_DELIMITERS), "")


def _divides(lines: Sequence[str], sign: str) -> bool:
    """Whether a sign is in all lines, equally often."""
    least, *others = {line.count(sign) for line in lines}
    return least > 0 and not others
