"""CSV, TSV and the like: bytes to an Arrow table of text."""

from __future__ import annotations

import csv
import io
import itertools
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from easeml.data.errors import DatasetError
from easeml.data.readers.encoding import decoded
from easeml.data.readers.header import is_header
from easeml.data.readers.source import Source
from easeml.data.types.arrow import arrow_compute
from easeml.data.types.text_tables import HEADER, check_names

if TYPE_CHECKING:
    import pyarrow as pa

_DELIMITERS = ",;\t|"
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
    table = _streamed(source) if source.path and source.path.stat().st_size >= _STREAMED else None
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
    return table.replace_schema_metadata(_told(encoding, delimiter, source, has_names))


def _streamed(source: Source) -> pa.Table | None:
    """The table of a file that begins like UTF-8 text; None where it has to be read as a whole."""
    import pyarrow as pa

    with source.open() as file:
        head = file.read(_SAMPLE) + file.readline()  # the header may be longer than the sample
    sample = head.decode("utf-8", "ignore")
    if (
        len(sample.encode()) < len(head) - 3
        or not sample.strip()
        or not sample[0].isprintable()
        or "\0" in sample
    ):
        return None  # packed, in another encoding, with a mark, or with empty lines first
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


def _told(encoding: str, delimiter: str, source: Source, has_names: bool) -> dict[str | bytes, str]:
    """What was found, for the metadata of the table."""
    told: dict[str | bytes, str] = {"encoding": encoding, "delimiter": delimiter}
    if has_names:
        return {**told, HEADER: "yes"}
    if source.header is None:
        told["note"] = (
            "The first row looks like values and not like names: it was read as a row, and the "
            "columns are numbered. If it does hold the names, write them as words, or say --header."
        )
    return told


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
    best, best_score = candidates[0] if "\t" in candidates[0] else ",", (0.0, 0)
    for delimiter in candidates:
        widths = [len(row) for row in _records(sample, delimiter, 200) if row]
        if not widths or widths[0] < 2:
            continue
        alike = Counter(widths)[widths[0]] / len(widths)
        if (alike, widths[0]) > best_score:
            best, best_score = delimiter, (alike, widths[0])
    return best


def _records(text: str, delimiter: str, limit: int) -> list[list[str]]:
    """The first records of ``text``; those before the first that the csv module cannot read."""
    records: list[list[str]] = []
    try:
        for record in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            records.append(record)
            if len(records) >= limit:
                break
    except csv.Error:
        pass
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

    trimmed = []
    try:
        reader = arrow_csv.open_csv(
            file,
            arrow_csv.ReadOptions(
                use_threads=False,
                autogenerate_column_names=True,
                block_size=block,
            ),
            arrow_csv.ParseOptions(
                delimiter=delimiter,
                newlines_in_values=True,
                invalid_row_handler=keep,
            ),
            arrow_csv.ConvertOptions(
                column_types={f"f{i}": pa.string() for i in range(len(names))},
                strings_can_be_null=False,
            ),
        )
        for batch in reader:
            trimmed.append(
                pa.RecordBatch.from_arrays(
                    [arrow_compute().utf8_trim_whitespace(column) for column in batch.columns],
                    schema=batch.schema,
                )
            )
    except (pa.ArrowInvalid, pa.ArrowException, OverflowError) as error:
        if ragged:
            raise _ragged(
                ragged[0],
                delimiter,
                name,
            ) from error
        raise _Unreadable(
            f"it cannot be read as a table: {error}.",
            where=name,
            remedy="Check quotes and delimiters.",
        ) from error
    table = pa.Table.from_batches(trimmed)
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
    records = (
        (number, row)
        for number, row in enumerate(csv.reader(lines, delimiter=delimiter), 1)
        if any(row)
    )
    parts: list[pa.RecordBatch] = []
    try:
        if has_names:
            next(records)
        while rows := list(itertools.islice(records, max(1, _CELLS // len(names)))):
            for number, row in rows:
                if len(row) != len(names):
                    raise _width(
                        len(names),
                        len(row),
                        f"{name}, row {number} (the header is row 1)",
                        delimiter,
                    )
            columns = zip(*(row for _, row in rows), strict=True)
            arrays = [
                pa.array([cell.strip() for cell in column], pa.string()) for column in columns
            ]
            parts.append(pa.RecordBatch.from_arrays(arrays, names))
    except csv.Error as error:
        raise DatasetError(
            f"it cannot be read as a table: {error}.",
            where=name,
            remedy="Check quotes.",
        ) from error
    return pa.Table.from_batches(
        parts, pa.schema([(column, pa.string()) for column in names])
    ).combine_chunks()


def _ragged(row: object, delimiter: str, name: str) -> DatasetError:
    expected, actual, number = (
        getattr(row, key) for key in ("expected_columns", "actual_columns", "number")
    )
    where = f"{name}, row {number} (the header is row 1)" if number else name
    return _width(expected, actual, where, delimiter)


def _width(expected: int, actual: int, where: str, delimiter: str) -> DatasetError:
    return DatasetError(
        f"the header has {expected} columns, and this row has {actual}.",
        where=where,
        remedy=f"Add or remove cells, or put quotes around values that contain {delimiter!r}.",
    )
