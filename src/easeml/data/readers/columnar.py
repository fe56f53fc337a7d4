"""Parquet and Arrow files, a batch at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from easeml.data.errors import refusing
from easeml.data.readers.sliced import SlicedTable
from easeml.data.readers.source import Source, check_unpacked
from easeml.data.types.text_tables import check_names, no_row, text_batches, text_table

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import parquet

_BATCH = 1 << 16  # rows
_BUFFER = 1 << 20  # bytes of a column that are read at once


def read_parquet(source: Source) -> pa.Table:
    """Read a Parquet file. Raises DatasetError if it is damaged or unpacks to too much."""
    with _parquet(source) as file:
        return text_table(file.iter_batches(_BATCH), file.schema_arrow, source.name)


def open_parquet(source: Source) -> SlicedTable:
    """As ``read_parquet``, of a table that is not held; a row group is read at a time.

    Later parts are looked at when they are given, and raise ``DatasetError`` then.
    """
    first = next(_text_batches(source), None)
    if first is None:
        raise no_row(source.name)
    with _parquet(source) as file:
        rows = file.metadata.num_rows
    names = check_names(first.schema.names, source.name)
    return SlicedTable(tuple(names), rows, partial(_text_batches, source))


def _text_batches(source: Source) -> Iterator[pa.RecordBatch]:
    """The rows of a Parquet file as text, some at a time, all with the same columns."""
    names: list[str] | None = None
    with _parquet(source) as file:
        for table in text_batches(file.iter_batches(_BATCH, use_threads=False), source.name):
            names = names or table.column_names
            if table.column_names != names:
                raise ValueError("lists of a column differ in length")
            yield from table.combine_chunks().to_batches()


@contextmanager
def _parquet(source: Source) -> Iterator[parquet.ParquetFile]:
    """Open a Parquet file; raises DatasetError, also later, if it is damaged or unpacks to too
    much.
    """
    from pyarrow import parquet

    with (
        _undamaged("Parquet", source),
        source.open() as handle,
        parquet.ParquetFile(handle, pre_buffer=False, buffer_size=_BUFFER) as file,
    ):
        meta = file.metadata
        groups = map(meta.row_group, range(meta.num_row_groups))
        check_unpacked(sum(group.total_byte_size for group in groups), source.name)
        yield file


def read_arrow(source: Source) -> pa.Table:
    """Read an Arrow (Feather) file. Raises DatasetError if it is damaged."""
    import pyarrow as pa

    with (
        _undamaged("Arrow", source),
        source.open() as handle,
        pa.ipc.open_file(handle) as file,
    ):
        batches = map(file.get_batch, range(file.num_record_batches))
        return text_table(_valid(batches), file.schema, source.name)


def read_arrow_stream(source: Source) -> pa.Table:
    """Read an Arrow stream. Raises DatasetError if it is damaged."""
    import pyarrow as pa

    with (
        _undamaged("Arrow", source),
        source.open() as handle,
        pa.ipc.open_stream(handle) as stream,
    ):
        return text_table(_valid(stream), stream.schema, source.name)


def _valid(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches, checked.

    Arrow trusts the offsets in a file, and a wrong one leads out of its memory.
    """
    for batch in batches:
        batch.validate(full=True)
        yield batch


def _undamaged(kind: str, source: Source) -> AbstractContextManager[None]:
    """Raise DatasetError for what Arrow raises while it reads a file that is damaged."""
    import pyarrow as pa

    raised = (pa.ArrowException, OSError, ValueError, OverflowError)
    said = f"the {kind} file is damaged ({{error}})."
    return refusing(raised, said, source.name, "Write it again.", longest=200)
