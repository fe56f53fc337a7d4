"""Series of which each is a CSV file: a row a step, a column a channel."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from easeml.data.errors import DatasetError, first_of
from easeml.data.readers.delimited import read_csv
from easeml.data.readers.file_tree import Tree
from easeml.data.readers.source import Source
from easeml.data.types import values as v
from easeml.data.types.cells import reported, tensor_report, to_arrow

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

SERIES = (".csv", ".tsv")
_LARGEST = 64 << 20  # bytes of a file
_STEPS = frozenset({"", "index", "step", "t", "time", "timestamp", "date", "datetime"})
_REMEDY = (
    "A series is a file with a column of numbers for each channel, the same in all files; "
    "of tables, send one, or one that joins them."
)


def series_column(tree: Tree, files: list[str]) -> tuple[pa.Field, pa.Array]:
    """The column ``series`` of these files: tensors (channels, steps), whose steps may differ.

    A first column of times is left out: of given times the order alone is kept.

    Raises:
        DatasetError: naming the file whose columns differ from the first's, or hold no numbers.
    """
    tables = list(map(partial(_channels, tree), files))
    names = tables[0].column_names
    series = []
    for file, table in zip(files, tables, strict=True):
        _check_names(table.column_names, names, file, files[0])
        series.append(_numbers(table, file))
    report = tensor_report("series", series)
    named = first_of(list(map(repr, names)), 8, ", ...")
    report = replace(report, evidence=f"A file a series, of {named}; {report.evidence}")
    return reported(report, to_arrow("tensor", series))


def _channels(tree: Tree, file: str) -> pa.Table:
    """The columns of a file without a first one that only counts or dates its rows."""
    table = read_csv(Source(file, data=tree.read(file, _LARGEST)))
    first, *others = table.column_names
    is_step = first.lower() in _STEPS
    if is_step and others:
        return table.select(others)
    return table


def _check_names(found: list[str], wanted: list[str], file: str, first: str) -> None:
    if found == wanted:
        return
    own = first_of(list(map(repr, found)), 5, ", ...")
    others = first_of(list(map(repr, wanted)), 5, ", ...")
    raise DatasetError(
        f"its columns are {own}, those of {first} are {others}.",
        where=file,
        remedy=_REMEDY,
    )


def _numbers(channels: pa.Table, file: str) -> np.ndarray:
    """The channels of a file as the rows of an array; what is missing is NaN."""
    import numpy as np

    made = []
    for name in channels.column_names:
        texts = channels[name].combine_chunks()
        read = v.to_numbers(texts)
        if read.bad.any():
            row = int(read.bad.argmax())
            said = f"{texts[row].as_py()[:60]!r} is not a number."
            raise DatasetError(said, where=f"{file}, '{name}', row {row}", remedy=_REMEDY)
        made.append(read.values)
    return np.stack(made)
