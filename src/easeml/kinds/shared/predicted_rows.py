"""The rows of a file with what was predicted of them, as a Parquet file that grows part by part."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from easeml.contract.predictions import COLUMN
from easeml.data import kinds_of, style_notes
from easeml.data.types.label_lists import LABELS
from easeml.decimals import CsvStyle
from easeml.folders import whole_file
from easeml.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import parquet

_GROUP = 1 << 20  # cells of a row group: what is held, and what a reader of the file holds


@contextmanager
def predicted_rows(path: Path, schema_out: Schema, style: CsvStyle) -> Iterator[PredictedRows]:
    """Give what writes a Parquet file, which is there when the block has ended without an exception.

    ``schema_out``: of the model; it says what the predictions are in every part. ``style``: of the
    file, in which its rows are handed out again as CSV.
    """
    with whole_file(path) as part:
        kind = LABELS if schema_out.labels_of_rows else next(iter(kinds_of(schema_out).values()))
        rows = PredictedRows(part, kind, style)
        yield rows
        rows.close()


class PredictedRows:
    """A Parquet file that is being written; ``kind``: of what is predicted; ``style``: noted."""

    def __init__(self, path: Path, kind: str, style: CsvStyle):
        self._path = path
        self._notes = style_notes(style)
        self._kind = kind
        self._writer: parquet.ParquetWriter | None = None
        self._held: list[pa.Table] = []
        self._cells = 0

    def close(self) -> None:
        """Write the rows that are left, and the end of the file, without which nobody can read it."""
        self._flush()
        if self._writer is not None:
            self._writer.close()

    def write(self, rows: pa.Table, predicted: dict[str, list[Any]]) -> None:
        """Add rows and what was predicted of each, by column.

        A name that the rows have gets an underscore more.
        """
        for name, cells in predicted.items():
            free = name
            while free in rows.column_names:
                free += "_"
            rows = rows.append_column(free, self._column(name, cells))
        self._held.append(rows.replace_schema_metadata(self._notes))
        self._cells += rows.num_rows * rows.num_columns
        if self._cells >= _GROUP:
            self._flush()

    def _column(self, name: str, cells: list[Any]) -> pa.Array:
        """A column of what was predicted; parts of a file have the same type, whatever is in them."""
        import pyarrow as pa

        types = {"number": pa.float64(), "category": pa.string(), LABELS: pa.string()}
        kind = self._kind if name == COLUMN else "number"  # of several numbers each is one
        return pa.array(cells, types.get(kind))

    def _flush(self) -> None:
        """Write the rows that are held as a row group."""
        import pyarrow as pa
        from pyarrow import parquet

        if not self._held:
            return
        table = pa.concat_tables(self._held)
        self._held = []
        self._cells = 0
        if self._writer is None:
            self._writer = parquet.ParquetWriter(self._path, table.schema)
        self._writer.write_table(table)
