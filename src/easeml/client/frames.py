"""Tables in memory on their way to a service, and predictions on their way back.

Frames of pandas and Polars, Arrow tables and two-dimensional arrays of NumPy. They travel as Arrow, so
that types survive.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from easeml.client.parts import notes_of
from easeml.contract.applications import Prediction
from easeml.contract.predictions import as_columns
from easeml.errors import InvalidInput

if TYPE_CHECKING:
    import pyarrow as pa

ARROW = "application/vnd.apache.arrow.stream"
ROWS_AT_ONCE = 10_000  # in one request
_OF_THE_CALLER = 4  # frames of the stack from a warning to whoever called ``predict``


def is_frame(data: Any) -> bool:
    """Tell whether this is a table in memory."""
    return _is_pandas(data) or _is_array(data) or hasattr(data, "__arrow_c_stream__")


def to_arrow(data: Any) -> pa.Table:
    """Return a table in memory as an Arrow table; the columns of an array are called x0, x1, ...

    Raises ``InvalidInput`` where a column holds what has no one type.
    """
    import pyarrow as pa

    try:
        if _is_array(data):
            return _of_array(data)
        if _is_pandas(data):
            return pa.Table.from_pandas(data, preserve_index=False)
        return pa.table(data)
    except pa.ArrowException as error:
        raise InvalidInput(
            f"The table cannot be sent: {error}",
            remedy="Give each column one type, such as numbers or texts.",
        ) from error


def write_parquet(data: Any, path: Path) -> None:
    """Write a table in memory as a Parquet file. Raises as ``to_arrow``."""
    import pyarrow.parquet as pq

    pq.write_table(to_arrow(data), path)


def parts_of(table: pa.Table) -> Iterator[tuple[int, bytes]]:
    """Yield the first row and the bytes of each part that is sent in one request."""
    import pyarrow as pa

    for start in range(0, max(1, table.num_rows), ROWS_AT_ONCE):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table.slice(start, ROWS_AT_ONCE))
        yield start, sink.getvalue().to_pybytes()


def like(data: Any, answers: Sequence[Prediction]) -> Any:
    """Return predictions of a table in its own form: a frame of pandas with its index, one of
    Polars, or an Arrow table. An array gets a frame of pandas.

    Columns: ``prediction``; for categories a ``probability_CLASS`` each; for numbers ``lower`` and
    ``upper`` where the model has an interval. What is to be said of the answer is in the attribute
    ``notes`` of a frame of pandas (``attrs``), and in the metadata of an Arrow table, as JSON; a
    frame of Polars has no place for it, so that it is warned of.
    """
    notes = notes_of(answers)
    columns: dict[str, list[Any]] = {}
    for answer in answers:
        for name, cells in as_columns(answer).items():
            columns.setdefault(name, []).extend(cells)
    if _is_pandas(data) or _is_array(data):
        return _pandas(columns, getattr(data, "index", None), notes)
    if _is_polars(data):
        for note in notes:
            warnings.warn(note, stacklevel=_OF_THE_CALLER)
        return import_module("polars").DataFrame(columns)
    import pyarrow as pa

    told = {"notes": json.dumps(notes)}
    return pa.table(columns).replace_schema_metadata(told)


def _pandas(columns: Mapping[str, list[Any]], index: Any, notes: list[str]) -> Any:
    import pandas as pd

    frame = pd.DataFrame(dict(columns), index=index)
    frame.attrs["notes"] = notes
    return frame


def _of_array(data: Any) -> pa.Table:
    import pyarrow as pa

    if data.ndim != 2:
        raise InvalidInput(f"The array has {data.ndim} dimensions; a table has 2.")
    names = [f"x{place}" for place in range(data.shape[1])]
    return pa.table([pa.array(data[:, place]) for place in range(data.shape[1])], names=names)


def _is_polars(data: Any) -> bool:
    return type(data).__module__.partition(".")[0] == "polars"


def _is_pandas(data: Any) -> bool:
    return hasattr(data, "iloc") and hasattr(data, "columns")


def _is_array(data: Any) -> bool:
    return hasattr(data, "__array_interface__") and hasattr(data, "ndim")
