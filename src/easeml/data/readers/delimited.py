"""CSV, TSV and the like: bytes to an Arrow table of text."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import partial
from typing import IO, TYPE_CHECKING, cast

from easeml.data.errors import DatasetError, first_of, refusing
from easeml.data.readers.encoding import Utf8File, decoded, encoding_of
from easeml.data.readers.headings import LAST, rows_below, told_of_below
from easeml.data.readers.layout import SAMPLE, Layout, layout_of, other_delimiter
from easeml.data.readers.short_rows import has_short_end, without_short_end
from easeml.data.readers.sliced import SlicedTable
from easeml.data.readers.source import LARGEST, Source
from easeml.data.types.arrow import arrow_compute
from easeml.data.types.text_tables import row_place

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

_LINE_END = re.compile(r"[\r\n]")
_STREAMED = 8 << 20  # bytes from which a file is read in blocks
_BLOCK = 16 << 20
_RESERVED = 1 << 30  # bytes: Arrow reserves a block for each column
_WIDE = 1000  # columns from which that is too much
_CELLS = 1 << 21  # that are held as Python values
_SLICED = 1 << 20  # bytes of a file that is read in parts, which are held at once
_BUFFER = 1 << 20
_LONGEST = 64 << 20  # bytes of a row
_NO_ROW = (
    "there is a header but no row.",
    "The first line has to hold the column names, the lines below it the data.",
)


def read_csv(source: Source) -> pa.Table:
    """Read a text table with its header in the first row.

    The delimiter (comma, semicolon, tab, bar) and the encoding (UTF-8, UTF-16 with a mark, else
    Windows or ISO Latin 1) are found out. A large UTF-8 file is read in blocks.

    Raises: DatasetError: if it is no text table with a header, at least one row, and as many cells
        in each row.
    """
    table = _streamed(source)
    return _whole(source) if table is None else table


def open_csv(source: Source) -> SlicedTable:
    """As ``read_csv``, of a table that is not held: it is read through once here, for its encoding,
    its header and the number of its rows, and again for its parts.

    Raises ``DatasetError`` for what ``read_csv`` refuses, and for a first line without end.
    """
    encoding = encoding_of(source)
    head = _head_of(source, encoding)
    layout = layout_of(head, source)
    block = min(_SLICED, _RESERVED // len(layout.names))
    end = _ShortEnd(layout)
    opened = partial(_opened, source, encoding, layout, end)
    try:
        rows, last = _counted(opened(block))
    except _Unreadable:  # perhaps a row is longer than a block
        block = _LONGEST
        rows, last = _counted(opened(block))
    _check_rows(rows, source.name)
    below = rows_below(last)
    kept = rows - len(below)
    told = _told(encoding, source, layout, head, [*below, *end.left_out])
    batches = partial(_first_rows, kept, partial(opened, block))
    names = tuple(layout.names)
    return SlicedTable(names, kept, batches, told.get("note", ""), layout.delimiter, encoding)


class _ShortEnd:
    """Leaves out the rows at the end of a text that end early; ``left_out``: how each begins."""

    def __init__(self, layout: Layout):
        self.left_out: list[str] = []
        self._layout = layout

    def without(self, text: str) -> str:
        """Return the end of a text without them."""
        kept, self.left_out = without_short_end(text, self._layout)
        return kept


def _first_rows(
    rows: int, opened: Callable[[], Generator[pa.RecordBatch]]
) -> Generator[pa.RecordBatch]:
    """The batches of the first rows."""
    left = rows
    for batch in opened():
        yield batch.slice(0, left)
        left -= min(left, len(batch))


def _opened(
    source: Source, encoding: str, layout: Layout, end: _ShortEnd, block: int
) -> Generator[pa.RecordBatch]:
    """The batches of a text file, of which about a ``block`` of bytes is held."""
    text = Utf8File(source, encoding, layout.begun, end.without)
    with io.BufferedReader(text, _BUFFER) as file:
        yield from _divided(file, block, layout, _LONGEST)


def _divided(
    file: IO[bytes] | pa.NativeFile, block: int, layout: Layout, longest: int = LARGEST
) -> Generator[pa.RecordBatch]:
    """The batches of UTF-8 text without what stands before its first cell."""
    if len(layout.names) <= _WIDE:
        return _batches(file, block, layout)
    lines = io.TextIOWrapper(cast(IO[bytes], file), "utf-8", newline="")
    return _wide_batches(_ending(lines, longest, layout.name), layout)


def _ending(lines: io.TextIOWrapper, longest: int, name: str) -> Iterator[str]:
    """The lines; one that is far too long is refused before it is held."""
    while line := lines.readline(longest + 1):
        if len(line) > longest:
            raise _endless("a line", name)
        yield line


def _endless(what: str, name: str) -> DatasetError:
    return DatasetError(
        f"{what} is longer than {_LONGEST >> 20} MiB.",
        where=name,
        remedy="Check the line ends, and send a table with a row a line.",
    )


def _counted(batches: Iterator[pa.RecordBatch]) -> tuple[int, list[tuple[str, ...]]]:
    """How many rows there are, and the last ones."""
    rows = 0
    last: deque[tuple[str, ...]] = deque(maxlen=LAST)
    for batch in batches:
        rows += len(batch)
        last.extend(_last_rows(batch))
    return rows, list(last)


def _last_rows(rows: pa.RecordBatch | pa.Table) -> list[tuple[str, ...]]:
    last = rows.slice(max(0, len(rows) - LAST))
    return list(zip(*last.to_pydict().values(), strict=True))


def _head_of(source: Source, encoding: str) -> str:
    """The characters by which a file is judged: at least its first line with content.

    Raises DatasetError where there is none, or where it goes on for very long.
    """
    head = ""
    content = io.BufferedReader(Utf8File(source, encoding), _BUFFER)
    with io.TextIOWrapper(content, "utf-8", newline="") as file:
        while text := file.read(SAMPLE):
            head += text
            if _LINE_END.search(head.lstrip()):
                return head
            if len(head) > _LONGEST:
                raise _endless("its first line", source.name)
    return head


def _whole(source: Source) -> pa.Table:
    import pyarrow as pa

    text, encoding = decoded(source.read(), source.name)
    layout = layout_of(text, source)
    begun, short = without_short_end(layout.begun(text), layout)
    data = begun.encode()
    block = min(len(data) + 1, _LONGEST)
    batches = _divided(pa.BufferReader(data), block, layout)
    table = pa.Table.from_batches(batches, layout.schema())
    _check_rows(table.num_rows, source.name)
    return _finished(table, encoding, source, layout, text, short)


def _streamed(source: Source) -> pa.Table | None:
    """The table of a large file that begins like UTF-8 text; None for one that is read as a whole."""
    import pyarrow as pa

    if source.path is None or source.path.stat().st_size < _STREAMED:
        return None
    with source.open() as file:
        head = file.read(SAMPLE) + file.readline()  # the header may be longer than the sample
    sample = head.decode("utf-8", "ignore")
    is_utf8 = len(sample.encode()) >= len(head) - 3  # the last character may be cut
    if not is_utf8 or not _begins_plainly(sample):
        return None
    layout = layout_of(sample, source)
    if layout.above or has_short_end(source.path, layout):
        return None
    block = min(_BLOCK, _RESERVED // len(layout.names))
    try:
        with pa.OSFile(str(source.path), "rb") as file:
            batches = list(_divided(file, block, layout))
    except (_Unreadable, OSError, UnicodeDecodeError):
        return None
    table = pa.Table.from_batches(batches, layout.schema())
    return _finished(table, "utf-8", source, layout, "")


def _finished(
    table: pa.Table,
    encoding: str,
    source: Source,
    layout: Layout,
    head: str,
    short: Sequence[str] = (),
) -> pa.Table:
    """The table without what stands below it, and with what was found.

    ``short``: how the rows begin that were left out before, for they end early.
    """
    below = rows_below(_last_rows(table))
    kept = table.slice(0, table.num_rows - len(below))
    told = _told(encoding, source, layout, head, [*below, *short])
    return kept.replace_schema_metadata(told)


def _check_rows(rows: int, name: str) -> None:
    if rows == 0:
        said, remedy = _NO_ROW
        raise DatasetError(said, where=name, remedy=remedy)


def _begins_plainly(sample: str) -> bool:
    """Whether text is not packed, and has neither a mark nor empty lines first."""
    first = sample[:1]
    return first.isprintable() and bool(first.strip()) and "\0" not in sample


def _told(
    encoding: str, source: Source, layout: Layout, head: str, below: Sequence[str]
) -> dict[str | bytes, str]:
    """What was found, for the metadata of the table.

    ``head``: how the text begins; ``below``: how the rows begin that were left out.
    """
    told: dict[str | bytes, str] = {"encoding": encoding, "delimiter": layout.delimiter}
    said = (_told_of_above(layout), told_of_below(below), _told_of_names(source, layout))
    told["note"] = " ".join(filter(None, said)) or _told_of_separator(layout, head)
    return told


def _told_of_above(layout: Layout) -> str:
    """What is said of titles and remarks above the header; nothing of none."""
    if not layout.titles:
        return ""
    titles = first_of(layout.titles, 3, " ...")
    return f"Above the header there is text that was left out: {titles}."


def _told_of_names(source: Source, layout: Layout) -> str:
    if layout.has_names or source.header is not None:
        return ""
    return (
        "The first row looks like values and not like names: it was read as a row, and the "
        "columns are numbered. If it does hold the names, write them as words, or say so when "
        "you upload (--header in commands)."
    )


def _told_of_separator(layout: Layout, head: str) -> str:
    separates = other_delimiter(head) if len(layout.names) == 1 else ""
    if not separates:
        return ""
    return (
        f"The file was read as one column. Its cells seem to be separated by {separates!r}: "
        "write commas, semicolons, tabs or bars instead."
    )


class _WholeLineEnds:
    """A file whose pieces never end between a carriage return and its line feed.

    Arrow drops a line feed at the beginning of a piece, where the piece before ended with a carriage
    return: in a cell of several lines it would be lost.
    """

    closed = False

    def __init__(self, file: IO[bytes] | pa.NativeFile):
        self._file = file
        self._held = b""

    def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes, none at the end."""
        new = self._file.read(size - len(self._held))
        piece = self._held + new
        if piece == b"\r":
            piece += self._file.read(1)  # nothing would mean the end
        self._held = b""
        if new and len(piece) > 1 and piece.endswith(b"\r"):
            self._held = b"\r"
            return piece[:-1]
        return piece


class _Unreadable(DatasetError):
    """Arrow cannot read this; told from rows that are too long or too short."""


def _batches(
    file: IO[bytes] | pa.NativeFile, block: int, layout: Layout
) -> Generator[pa.RecordBatch]:
    """The rows of a file of UTF-8, some at a time, with their cells stripped.

    Raises DatasetError for a row of another width, _Unreadable for what Arrow cannot read.
    """
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    ragged: list[arrow_csv.InvalidRow] = []

    def keep(row: arrow_csv.InvalidRow) -> str:
        ragged.append(row)
        return "error"

    reading = arrow_csv.ReadOptions(
        use_threads=False,
        autogenerate_column_names=True,
        block_size=block,
    )
    parsing = arrow_csv.ParseOptions(
        delimiter=layout.delimiter,
        newlines_in_values=True,
        invalid_row_handler=keep,
    )
    as_text = arrow_csv.ConvertOptions(
        column_types={f"f{place}": pa.string() for place in range(len(layout.names))},
        strings_can_be_null=False,
    )
    is_header_left = layout.has_names
    try:
        for batch in arrow_csv.open_csv(_WholeLineEnds(file), reading, parsing, as_text):
            trimmed = _trimmed(batch, layout)
            if is_header_left and len(trimmed):
                is_header_left = False
                trimmed = trimmed.slice(1)
            yield trimmed
    except (pa.ArrowInvalid, pa.ArrowException, OverflowError) as error:
        if ragged:
            raise _ragged(ragged[0], layout) from error
        said, remedy = f"it cannot be read as a table: {error}.", "Check quotes and delimiters."
        if "Empty CSV" in str(error):  # one line without an end: Arrow sees none
            said, remedy = _NO_ROW
        raise _Unreadable(said, where=layout.name, remedy=remedy) from error


def _trimmed(batch: pa.RecordBatch, layout: Layout) -> pa.RecordBatch:
    """The batch with its names, and its cells stripped."""
    import pyarrow as pa

    if batch.num_columns != len(layout.names):
        raise DatasetError(
            "the header cannot be read.",
            where=layout.name,
            remedy="Check the quotes in the first line.",
        )
    trim = arrow_compute().utf8_trim_whitespace
    return pa.RecordBatch.from_arrays(list(map(trim, batch)), schema=layout.schema())


def _wide_batches(lines: Iterable[str], layout: Layout) -> Generator[pa.RecordBatch]:
    """As ``_batches``, for tables with very many columns."""
    import pyarrow as pa

    csv.field_size_limit(1 << 30)
    rows = _rows(lines, layout)
    at_once = max(1, _CELLS // len(layout.names))
    with refusing(
        csv.Error, "it cannot be read as a table: {error}.", layout.name, "Check quotes."
    ):
        if layout.has_names:
            next(rows)
        while some := list(itertools.islice(rows, at_once)):
            columns = [pa.array(column, pa.string()) for column in zip(*some, strict=True)]
            yield pa.RecordBatch.from_arrays(columns, schema=layout.schema())


def _rows(lines: Iterable[str], layout: Layout) -> Iterator[list[str]]:
    """The rows with content, their cells stripped; one of another width is refused."""
    width = len(layout.names)
    filled = filter(any, csv.reader(lines, delimiter=layout.delimiter))
    for number, row in enumerate(filled):
        if len(row) != width:
            where = f"{layout.name}, {row_place(number - layout.has_names)}"
            raise _width(width, len(row), where, layout.delimiter)
        yield list(map(str.strip, row))


def _ragged(row: arrow_csv.InvalidRow, layout: Layout) -> DatasetError:
    """The refusal of a row of another width. Arrow counts rows with content from 1."""
    where = layout.name
    if row.number:
        where = f"{layout.name}, {row_place(row.number - 1 - layout.has_names)}"
    return _width(row.expected_columns, row.actual_columns, where, layout.delimiter)


def _width(expected: int, actual: int, where: str, delimiter: str) -> DatasetError:
    return DatasetError(
        f"the header has {expected} columns, and this row has {actual}.",
        where=where,
        remedy=f"Add or remove cells, or put quotes around values that contain {delimiter!r}.",
    )
