"""CSV, TSV and the like: bytes to an Arrow table of text."""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from easeml.data.errors import DatasetError
from easeml.data.readers.encoding import decoded
from easeml.data.readers.header import is_header
from easeml.data.readers.source import Source
from easeml.data.types.arrow import arrow_compute
from easeml.data.types.text_tables import check_names, row_place

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

_DELIMITERS = ",;\t|"
_OTHER_DELIMITERS = "~^#:\x01\x1f "  # that are told, and not read
_FEWEST = 3  # rows by which another delimiter is told
_JUDGED = 200  # rows by which the header is told
_SAMPLE = 1 << 18  # characters looked at to find the delimiter
_STREAMED = 8 << 20  # bytes from which a file is read in blocks
_BLOCK = 16 << 20
_RESERVED = 1 << 30  # bytes: Arrow reserves a block for each column
_WIDE = 1000  # columns from which that is too much
_CELLS = 1 << 21  # that are held as Python values


def read_csv(source: Source) -> pa.Table:
    """Read a text table with its header in the first row.

    The delimiter (comma, semicolon, tab, bar) and the encoding (UTF-8, UTF-16 with a mark, else
    Windows or ISO Latin 1) are found out. A large UTF-8 file is read in blocks.

    Raises: DatasetError: if it is no text table with a header, at least one row, and as many cells
        in each row.
    """
    is_large = source.path is not None and source.path.stat().st_size >= _STREAMED
    table = _streamed(source) if is_large else None
    return _whole(source) if table is None else table


def _whole(source: Source) -> pa.Table:
    import pyarrow as pa

    name = source.name
    text, encoding = decoded(source.read(), name)
    if not text.strip():
        raise DatasetError(
            "the file is empty.",
            where=name,
            remedy="Send a table with a header and rows.",
        )
    delimiter = _delimiter(text, name)
    names, has_names = _header(text, delimiter, source)
    data = text.encode()
    data = data.lstrip() if delimiter != "\t" else data.lstrip(b"\r\n")
    if len(names) > _WIDE:
        table = _parse_wide(io.StringIO(text, newline=""), delimiter, names, name, has_names)
    else:
        block = min(len(data) + 1, 64 << 20)
        table = _parse(pa.BufferReader(data), block, delimiter, names, name, has_names)
    if table.num_rows == 0:
        raise DatasetError(
            "there is a header but no row.",
            where=name,
            remedy="The first line has to hold the column names, the lines below it the data.",
        )
    told = _told(encoding, delimiter, source, has_names)
    separates = _other_delimiter(text) if len(names) == 1 else ""
    if separates:
        told["note"] = (
            f"The file was read as one column. Its cells seem to be separated by {separates!r}: "
            "write commas, semicolons, tabs or bars instead."
        )
    return table.replace_schema_metadata(told)


def _streamed(source: Source) -> pa.Table | None:
    """The table of a file that begins like UTF-8 text; None where it has to be read as a whole."""
    import pyarrow as pa

    with source.open() as file:
        head = file.read(_SAMPLE) + file.readline()  # the header may be longer than the sample
    sample = head.decode("utf-8", "ignore")
    is_utf8 = len(sample.encode()) >= len(head) - 3  # the last character may be cut
    if not is_utf8 or not _begins_plainly(sample):
        return None
    delimiter = _delimiter(sample, source.name)
    names, has_names = _header(sample, delimiter, source)
    try:
        if len(names) > _WIDE:
            with source.open() as file, io.TextIOWrapper(file, "utf-8", newline="") as lines:
                table = _parse_wide(lines, delimiter, names, source.name, has_names)
        else:
            with pa.OSFile(str(source.path), "rb") as file:
                block = min(_BLOCK, _RESERVED // len(names))
                table = _parse(file, block, delimiter, names, source.name, has_names)
    except (_Unreadable, OSError, UnicodeDecodeError):
        return None
    return table.replace_schema_metadata(_told("utf-8", delimiter, source, has_names))


def _begins_plainly(sample: str) -> bool:
    """Whether text is not packed, and has neither a mark nor empty lines first."""
    if not sample.strip() or "\0" in sample:
        return False
    return sample[0].isprintable()


def _told(encoding: str, delimiter: str, source: Source, has_names: bool) -> dict[str | bytes, str]:
    """What was found, for the metadata of the table."""
    told: dict[str | bytes, str] = {"encoding": encoding, "delimiter": delimiter}
    if not has_names and source.header is None:
        told["note"] = (
            "The first row looks like values and not like names: it was read as a row, and the "
            "columns are numbered. If it does hold the names, write them as words, or say so when "
            "you upload (--header in commands)."
        )
    return told


def _other_delimiter(text: str) -> str:
    """Return the sign that seems to separate the cells of a file of one column; empty for none."""
    lines = text[:_SAMPLE].splitlines()[:_JUDGED]
    lines = [line for line in lines if line.strip()]
    if len(lines) < _FEWEST:
        return ""
    for sign in _OTHER_DELIMITERS:
        counts = {line.count(sign) for line in lines}
        if len(counts) == 1 and counts != {0}:
            return sign
    return ""


class _Unreadable(DatasetError):
    """Arrow cannot read this; told from rows that are too long or too short."""


def _delimiter(text: str, name: str) -> str:
    """The delimiter under which most rows of a sample have as many cells as the header.

    The header has at least two.
    """
    sample = text[:_SAMPLE]
    candidates = _DELIMITERS
    if ".tsv" in name.lower():
        candidates = "\t" + candidates.replace("\t", "")
    best, best_score = candidates[0], (0.0, 0)
    for delimiter in candidates:
        widths = [len(row) for row in _records(sample, delimiter, _JUDGED) if row]
        if not widths or widths[0] < 2:
            continue
        alike = widths.count(widths[0]) / len(widths)
        score = (alike, widths[0])
        if score > best_score:
            best, best_score = delimiter, score
    return best


def _records(text: str, delimiter: str, limit: int) -> list[list[str]]:
    """The first records of ``text``; those before the first that the csv module cannot read."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    records: list[list[str]] = []
    with contextlib.suppress(csv.Error):
        for record in itertools.islice(reader, limit):
            records.append(record)
    return records


def _header(text: str, delimiter: str, source: Source) -> tuple[list[str], bool]:
    """The column names, and whether they are the first record with content.

    ``column N`` where a cell is empty, or where the file has no header.
    """
    records = [one for one in _records(text[: _header_end(text)], delimiter, 1000) if any(one)]
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
    return max(_SAMPLE, len(text) if line < 0 else line + 1)


def _parse(
    file: object, block: int, delimiter: str, names: list[str], name: str, has_names: bool
) -> pa.Table:
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
        delimiter=delimiter,
        newlines_in_values=True,
        invalid_row_handler=keep,
    )
    as_text = arrow_csv.ConvertOptions(
        column_types={f"f{place}": pa.string() for place in range(len(names))},
        strings_can_be_null=False,
    )
    batches = []
    try:
        for batch in arrow_csv.open_csv(file, reading, parsing, as_text):
            trimmed = [arrow_compute().utf8_trim_whitespace(column) for column in batch.columns]
            batches.append(pa.RecordBatch.from_arrays(trimmed, schema=batch.schema))
    except (pa.ArrowInvalid, pa.ArrowException, OverflowError) as error:
        if ragged:
            raise _ragged(ragged[0], delimiter, name, has_names) from error
        raise _Unreadable(
            f"it cannot be read as a table: {error}.",
            where=name,
            remedy="Check quotes and delimiters.",
        ) from error
    table = pa.Table.from_batches(batches)
    if table.num_columns != len(names):
        raise DatasetError(
            "the header cannot be read.",
            where=name,
            remedy="Check the quotes in the first line.",
        )
    return table.slice(1 if has_names else 0).rename_columns(names)


def _parse_wide(
    lines: Iterable[str], delimiter: str, names: list[str], name: str, has_names: bool
) -> pa.Table:
    """As ``_parse``, some rows at a time, for tables with very many columns."""
    import pyarrow as pa

    csv.field_size_limit(1 << 30)
    schema = pa.schema([(column, pa.string()) for column in names])
    rows = _rows(lines, delimiter, len(names), name, has_names)
    at_once = max(1, _CELLS // len(names))
    batches: list[pa.RecordBatch] = []
    try:
        if has_names:
            next(rows)
        while True:
            some = list(itertools.islice(rows, at_once))
            if not some:
                break
            columns = [pa.array(column, pa.string()) for column in zip(*some, strict=True)]
            batches.append(pa.RecordBatch.from_arrays(columns, schema=schema))
    except csv.Error as error:
        raise DatasetError(
            f"it cannot be read as a table: {error}.",
            where=name,
            remedy="Check quotes.",
        ) from error
    return pa.Table.from_batches(batches, schema).combine_chunks()


def _rows(
    lines: Iterable[str], delimiter: str, width: int, name: str, has_names: bool
) -> Iterator[list[str]]:
    """The rows with content, their cells stripped; one of another width is refused."""
    filled = filter(any, csv.reader(lines, delimiter=delimiter))
    for number, row in enumerate(filled):
        if len(row) != width:
            where = f"{name}, {row_place(number - has_names)}"
            raise _width(width, len(row), where, delimiter)
        yield list(map(str.strip, row))


def _ragged(row: arrow_csv.InvalidRow, delimiter: str, name: str, has_names: bool) -> DatasetError:
    """The refusal of a row of another width. Arrow counts rows with content from 1."""
    where = f"{name}, {row_place(row.number - 1 - has_names)}" if row.number else name
    return _width(row.expected_columns, row.actual_columns, where, delimiter)


def _width(expected: int, actual: int, where: str, delimiter: str) -> DatasetError:
    return DatasetError(
        f"the header has {expected} columns, and this row has {actual}.",
        where=where,
        remedy=f"Add or remove cells, or put quotes around values that contain {delimiter!r}.",
    )
