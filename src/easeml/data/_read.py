"""Text tables: bytes to an Arrow table of strings."""

from __future__ import annotations

import csv
import io
import zlib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from easeml.data._errors import DatasetError
from easeml.data._values import arrow_compute

if TYPE_CHECKING:
    import pyarrow as pa

ROW = "_row"  # the column of row ids that a declared version adds
_DELIMITERS = ",;\t|"
_SAMPLE = 1 << 18  # characters looked at to find the delimiter
_LARGEST = 4 << 30  # bytes after decompression
_BINARY = {b"PK\x03\x04": "a zip file or an Excel workbook", b"PAR1": "a Parquet file", b"%PDF": "a PDF"}


def read_table(path: str | Path, filename: str | None = None) -> pa.Table:
    """Read a CSV or TSV file, plain or gzip, with its header in the first row.

    The delimiter (comma, semicolon, tab, bar) and the encoding (UTF-8, UTF-16 with a mark, else Windows or
    ISO Latin 1) are found out. Every column is a string column of stripped values; the metadata of the table
    has what was found (``encoding``, ``delimiter``). ``filename`` is the user's name of the file, for messages.

    Raises:
        DatasetError: if it is no text table with a header, at least one row, and as many cells in each row.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DatasetError(f"cannot be read: {error.strerror or error}.", where=str(path)) from error
    return table_from_bytes(data, filename or path.name)


def table_from_bytes(data: bytes, name: str) -> pa.Table:
    """As ``read_table``, from bytes; ``name`` is the place named in errors."""
    text, encoding = _decode(_decompress(data, name), name)
    if not text.strip():
        raise DatasetError("the file is empty.", where=name, remedy="Send a table with a header and rows.")
    delimiter = _delimiter(text, name)
    names = _header(text, delimiter, name)
    table = _parse(text.encode(), delimiter, names, name)
    if table.num_rows == 0:
        raise DatasetError(
            "there is a header but no row.",
            where=name,
            remedy="The first line has to hold the column names, the lines below it the data.",
        )
    return table.replace_schema_metadata({"encoding": encoding, "delimiter": delimiter})


def _decompress(data: bytes, name: str) -> bytes:
    if not data.startswith(b"\x1f\x8b"):
        return data
    out = io.BytesIO()
    try:
        while data:  # a gzip file may have several members
            unpack = zlib.decompressobj(wbits=31)
            out.write(unpack.decompress(data, _LARGEST - out.tell() + 1))
            if out.tell() > _LARGEST:
                raise DatasetError(f"it unpacks to more than {_LARGEST >> 30} GiB.", where=name)
            if not unpack.eof:
                raise DatasetError("the gzip file is cut off.", where=name, remedy="Send it again.")
            data = unpack.unused_data.lstrip(b"\0")
    except zlib.error as error:
        raise DatasetError(f"the gzip file is damaged ({error}).", where=name, remedy="Pack it again.") from error
    return out.getvalue()


def _decode(data: bytes, name: str) -> tuple[str, str]:
    for magic, kind in _BINARY.items():
        if data.startswith(magic):
            raise DatasetError(f"this is {kind}.", where=name, remedy="Save the table as CSV and send that.")
    encodings = ["utf-16"] if data.startswith((b"\xff\xfe", b"\xfe\xff")) else ["utf-8-sig", "cp1252", "latin-1"]
    for encoding in encodings:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" in text:
            break
        return text, encoding
    raise DatasetError("this is not a text table.", where=name, remedy="Save the table as CSV (UTF-8).")


def _delimiter(text: str, name: str) -> str:
    """The delimiter under which most rows of a sample have as many cells as the header (at least two)."""
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


def _header(text: str, delimiter: str, name: str) -> list[str]:
    """The column names: those of the first record with content; ``column N`` where the cell is empty."""
    record = next((record for record in _records(text[:_SAMPLE], delimiter, 1000) if any(record)), None)
    if record is None:
        raise DatasetError("the header cannot be read.", where=name, remedy="Check the quotes in the first line.")
    names = [cell.strip() or f"column {i}" for i, cell in enumerate(record, 1)]
    twice = [cell for cell, count in Counter(names).items() if count > 1]
    if twice:
        places = ", ".join(str(i) for i, cell in enumerate(names, 1) if cell == twice[0])
        raise DatasetError(
            f"the column name '{twice[0]}' occurs more than once (columns {places}).",
            where=name,
            remedy="Give every column a name of its own.",
        )
    if ROW in names:
        raise DatasetError(f"the column name '{ROW}' is used by easeml itself.", where=name, remedy="Rename it.")
    return names


def _parse(data: bytes, delimiter: str, names: list[str], name: str) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    ragged: list[arrow_csv.InvalidRow] = []

    def keep(row: arrow_csv.InvalidRow) -> str:
        ragged.append(row)
        return "error"

    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(data.lstrip() if delimiter != "\t" else data.lstrip(b"\r\n")),
            arrow_csv.ReadOptions(
                use_threads=False, autogenerate_column_names=True, block_size=min(len(data) + 1, 64 << 20)
            ),
            arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=keep),
            arrow_csv.ConvertOptions(
                column_types={f"f{i}": pa.string() for i in range(len(names))}, strings_can_be_null=False
            ),
        )
    except (pa.ArrowInvalid, pa.ArrowException, OverflowError) as error:
        if ragged:
            raise _ragged(ragged[0], delimiter, name) from error
        raise DatasetError(
            f"it cannot be read as a table: {error}.", where=name, remedy="Check quotes and delimiters."
        ) from error
    if table.num_columns != len(names):
        raise DatasetError("the header cannot be read.", where=name, remedy="Check the quotes in the first line.")
    columns = [arrow_compute().utf8_trim_whitespace(column) for column in table.slice(1).columns]
    return pa.table(columns, names=names)


def column_text(table: pa.Table, name: str) -> pa.Array:
    """A column of a table as one array."""
    import pyarrow as pa

    chunks = table.column(name).chunks
    return pa.concat_arrays(chunks) if chunks else pa.array([], pa.string())


def _ragged(row: object, delimiter: str, name: str) -> DatasetError:
    expected, actual, number = (getattr(row, key) for key in ("expected_columns", "actual_columns", "number"))
    return DatasetError(
        f"the header has {expected} columns, and this row has {actual}.",
        where=f"{name}, row {number} (the header is row 1)" if number else name,
        remedy=f"Add or remove cells, or put quotes around values that contain {delimiter!r}.",
    )
