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
from operator import itemgetter
from typing import TYPE_CHECKING

from easeml.data.errors import DatasetError
from easeml.data.readers.header import is_header
from easeml.data.readers.source import Source
from easeml.data.types.text_tables import MOST_COLUMNS, check_names
from easeml.data.types.values import is_number

if TYPE_CHECKING:
    import pyarrow as pa

SAMPLE = 1 << 18  # characters looked at to find the delimiter
_DELIMITERS = ",;\t|"
_OTHER_DELIMITERS = "~^#:\x01\x1f "  # that are told, and not read
_FEWEST = 3  # rows by which another delimiter is told
_JUDGED = 200  # rows by which the header is told
_BLANK_LINES = re.compile(r"\A(?: *[\r\n])+")
_SEPARATOR = re.compile(r"\A\s*\"?sep=([,;\t|])\"?[^\S\r\n]*(\r\n|\r|\n)", re.IGNORECASE)
_MOST_NOTES = 30  # rows above the header
_EVEN = 0.9  # share of the rows below that have as many cells as the header
_MOST_CELLS = 10 * MOST_COLUMNS  # of a header: some of what divides cells may be within quotes


@dataclass(frozen=True)
class Layout:
    """How a text is divided into cells. ``name``: of the file, for messages."""

    name: str
    delimiter: str
    names: list[str]
    has_names: bool  # the first row holds the names
    above: str = ""  # the lines above the header: titles, remarks, and what names the delimiter
    titles: tuple[str, ...] = ()  # these titles and remarks

    def begun(self, text: str) -> str:
        """Return how a file begins without what stands before its first cell."""
        begun = _without_blanks(text, self.delimiter).removeprefix(self.above)
        return _without_blanks(begun, self.delimiter)

    def schema(self) -> pa.Schema:
        """Columns of text."""
        import pyarrow as pa

        return pa.schema(dict.fromkeys(self.names, pa.string()))


def _without_blanks(text: str, delimiter: str) -> str:
    """The text from its first cell on. Tabs may stand for empty cells: then only blank lines go."""
    if delimiter == "\t":
        return _BLANK_LINES.sub("", text)
    return text.lstrip()


def _delimiter(text: str, name: str) -> tuple[str, str, tuple[str, ...]]:
    """The delimiter, the lines above the header, and what they say.

    Spreadsheets may name the delimiter in the first line (``sep=;``). Else it is that under which
    most rows of a sample have as many cells as the header, which has at least two. Where that is no
    half of them, the first lines may be titles and remarks, and the header be below.
    """
    named = _SEPARATOR.match(text)
    if named:
        return named[1], named[0].lstrip(), ()

    candidates = _DELIMITERS
    if ".tsv" in name.lower():
        candidates = "\t" + candidates.replace("\t", "")
    sample = text[:SAMPLE]
    evenness = dict(zip(candidates, map(partial(_evenness, sample), candidates), strict=True))
    best = max(candidates, key=evenness.__getitem__)
    tried = best if evenness[best][0] > 0.5 else candidates
    for delimiter in tried:
        above, titles = _above(sample, delimiter)
        if above:
            return delimiter, above, titles
    return best, "", ()


def _above(sample: str, delimiter: str) -> tuple[str, tuple[str, ...]]:
    """The lines above the header, and what they say, if under this delimiter a table is below them.

    Each is a remark (``#``) of another width, or has cells for less than half of the columns; and
    nearly all rows below have as many cells as the header, which has no number. Else there are none.
    """
    text = _without_blanks(sample, delimiter)
    lined = _lined_records(text, delimiter, _JUDGED)
    records = list(map(itemgetter(1), lined))
    widths = list(map(len, records))
    width = max(widths, key=widths.count, default=0)
    above = list(itertools.takewhile(partial(_is_above, width), records))
    is_some = 0 < len(above) <= _MOST_NOTES
    if not is_some or not _is_table(records[len(above) :], width):
        return "", ()

    first_line, _ = lined[len(above)]
    lines = itertools.islice(io.StringIO(text, newline=""), first_line)
    return "".join(lines), tuple(map(_title, above))


def _is_table(records: Sequence[Sequence[str]], width: int) -> bool:
    """Whether nearly all records have a width, and the first of them names."""
    if len(records) < 2:
        return False
    names = records[0]
    even = list(map(len, records)).count(width)
    are_even = len(names) == width and even >= _EVEN * len(records)
    return are_even and not any(map(is_number, names))


def _title(record: Sequence[str]) -> str:
    """What a title or a remark says."""
    return " ".join(filter(None, map(str.strip, record)))


def _is_above(width: int, record: Sequence[str]) -> bool:
    """Whether a record is a title or a remark, of a table of some width."""
    filled = len(list(filter(str.strip, record)))
    is_remark = record[0].startswith("#") and len(record) != width
    return is_remark or 2 * filled < width


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
    return list(map(itemgetter(1), _lined_records(text, delimiter, limit)))


def _lined_records(text: str, delimiter: str, limit: int) -> list[tuple[int, list[str]]]:
    """As ``_records``, each with the number of lines before it."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    lined: list[tuple[int, list[str]]] = []
    with contextlib.suppress(csv.Error):
        before = 0
        for record in itertools.islice(reader, limit):
            if _has_content(record):
                lined.append((before, record))
            before = reader.line_num
    return lined


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
    delimiter, above, titles = _delimiter(text, source.name)
    below = _without_blanks(text, delimiter).removeprefix(above)
    names, has_names = _header(below, delimiter, source)
    return Layout(source.name, delimiter, names, has_names, above, titles)


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
