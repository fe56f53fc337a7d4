"""A Parquet file as a stream of another format, a part at a time."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from easeml.data.types.text_tables import noted
from easeml.data.versions.table_files import without_formulas
from easeml.decimals import CsvStyle

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import parquet

_BUFFER = 1 << 20  # bytes of a column that are read at once, and of a file


class TableFormat(StrEnum):
    """How rows that are kept as Parquet are handed out."""

    PARQUET = "parquet"
    CSV = "csv"
    JSON_LINES = "jsonl"

    @classmethod
    def of(cls, path: Path | None) -> TableFormat:
        """Return the format that the end of a name tells; CSV if it tells none."""
        suffix = "" if path is None else path.suffix.lower()
        return _BY_ENDING.get(suffix, cls.CSV)


_BY_ENDING = {
    ".parquet": TableFormat.PARQUET,
    ".pq": TableFormat.PARQUET,
    ".jsonl": TableFormat.JSON_LINES,
    ".ndjson": TableFormat.JSON_LINES,
}


def as_stream(
    source: Path,
    form: TableFormat,
    *,
    keep_formulas: bool = False,
) -> Iterator[bytes]:
    """Give the bytes of a Parquet file in another format; a part of it is held at a time.

    ``keep_formulas``: CSV has names and texts as they are, see ``without_formulas``. It is written in
    the style that the file notes, if any.
    """
    from pyarrow import parquet

    if form == TableFormat.PARQUET:
        yield from _bytes_of(source)
        return
    with parquet.ParquetFile(source, pre_buffer=False, buffer_size=_BUFFER) as read:
        if form == TableFormat.JSON_LINES:
            yield from _json_lines(read)
        else:
            yield from _csv(read, keep_formulas, _style_noted(read.schema_arrow))


def style_notes(style: CsvStyle) -> dict[str, str]:
    """Return the metadata of a Parquet file whose rows were, and are to be, written in a style."""
    return {"delimiter": style.delimiter, "decimal": style.decimal, "mark": style.mark}


def _style_noted(schema: pa.Schema) -> CsvStyle:
    usual = CsvStyle()
    delimiter = noted(schema, b"delimiter") or usual.delimiter
    decimal = noted(schema, b"decimal") or usual.decimal
    return CsvStyle(delimiter, decimal, noted(schema, b"mark"))


def rows_of(source: Path) -> int:
    """Return how many rows a Parquet file has."""
    from pyarrow import parquet

    with parquet.ParquetFile(source) as read:
        return read.metadata.num_rows


def _bytes_of(source: Path) -> Iterator[bytes]:
    with source.open("rb") as file:
        while part := file.read(_BUFFER):
            yield part


def _json_lines(read: parquet.ParquetFile) -> Iterator[bytes]:
    for part in read.iter_batches():
        lines = [*map(json.dumps, part.to_pylist()), ""]
        yield "\n".join(lines).encode()


def _csv(read: parquet.ParquetFile, keep_formulas: bool, style: CsvStyle) -> Iterator[bytes]:
    import pyarrow as pa

    empty = read.schema_arrow.empty_table()
    yield style.mark.encode()
    yield _csv_text(empty, keep_formulas, style, header=True)
    for part in read.iter_batches():
        rows = pa.Table.from_batches([part])
        yield _csv_text(rows, keep_formulas, style, header=False)


def _csv_text(rows: pa.Table, keep_formulas: bool, style: CsvStyle, *, header: bool) -> bytes:
    from pyarrow import csv

    out = io.BytesIO()
    shown = rows if keep_formulas else without_formulas(rows)
    if style.decimal != ".":
        shown = _with_decimals(shown, style)
    options = csv.WriteOptions(include_header=header, delimiter=style.delimiter)
    csv.write_csv(shown, out, options)
    return out.getvalue()


def _with_decimals(rows: pa.Table, style: CsvStyle) -> pa.Table:
    """Return rows whose numbers are texts with the sign of a style before their decimals."""
    import pyarrow as pa

    shown = rows
    for place, field in enumerate(rows.schema):
        if pa.types.is_floating(field.type):
            written = map(style.written, rows.column(place).to_pylist())
            shown = shown.set_column(place, field.name, pa.array(list(written), pa.string()))
    return shown
