"""How a text table is divided into cells: its delimiter, and whether its first row holds names."""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import re
from dataclasses import dataclass
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
_LINE = re.compile(r"[^\r\n]*")
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
        return _BLANK_LINES.sub("", text) if self.delimiter == "\t" else text.lstrip()

    def schema(self) -> pa.Schema:
        """Columns of text."""
        import pyarrow as pa

        return pa.schema([(name, pa.string()) for name in self.names])


def _delimiter(text: str, name: str) -> str:
    """The delimiter under which most rows of a sample have as many cells as the header.

    The header has at least two.
    """
    sample = text[:SAMPLE]
    candidates = _DELIMITERS
    if ".tsv" in name.lower():
        candidates = "\t" + candidates.replace("\t", "")
    best, best_score = candidates[0], (0.0, 0)
    for delimiter in candidates:
        widths = [len(row) for row in _records(sample, delimiter, _JUDGED) if not _is_blank(row)]
        if not widths or widths[0] < 2:
            continue
        alike = widths.count(widths[0]) / len(widths)
        score = (alike, widths[0])
        if score > best_score:
            best, best_score = delimiter, score
    return best


def _is_blank(row: list[str]) -> bool:
    return not any(map(str.strip, row))


def _records(text: str, delimiter: str, limit: int) -> list[list[str]]:
    """The first records of ``text``; those before the first that the csv module cannot read."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    records: list[list[str]] = []
    with contextlib.suppress(csv.Error):
        for record in itertools.islice(reader, limit):
            records.append(record)
    return records


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
    first_line = _LINE.match(start.lstrip())
    if first_line and first_line[0].count(delimiter) > _MOST_CELLS:
        raise _too_many(first_line[0].count(delimiter), source.name)
    records = [one for one in _records(start, delimiter, 1000) if not _is_blank(one)]
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
    if not has_names:
        first = [""] * len(first)
    return check_names(first, source.name), has_names


def _header_end(text: str) -> int:
    """Where the sample ends, or the first line with content if that is longer."""
    line = text.find("\n", len(text) - len(text.lstrip()))
    return max(SAMPLE, len(text) if line < 0 else line + 1)


def other_delimiter(text: str) -> str:
    """Return the sign that seems to separate the cells of a file of one column; empty for none."""
    lines = text[:SAMPLE].splitlines()[:_JUDGED]
    lines = [line for line in lines if line.strip()]
    if len(lines) < _FEWEST:
        return ""
    for sign in _OTHER_DELIMITERS:
        counts = {line.count(sign) for line in lines}
        if len(counts) == 1 and counts != {0}:
            return sign
    return ""


def _too_many(cells: int, name: str) -> DatasetError:
    return DatasetError(
        f"a table has 1 to {MOST_COLUMNS:,} columns, and the first line has {cells:,} cells.",
        where=name,
        remedy="Check the line ends.",
    )
