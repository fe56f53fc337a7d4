"""Tables in memory on their way to a service, and predictions on their way back.

Frames of pandas and Polars, Arrow tables and two-dimensional arrays of NumPy. They travel as Arrow, so
that types survive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from easeml.contract.applications import Prediction
from easeml.contract.predictions import as_columns
from easeml.errors import EasemlError, InvalidInput

if TYPE_CHECKING:
    import pyarrow as pa

ARROW = "application/vnd.apache.arrow.stream"
ROWS_AT_ONCE = 10_000  # in one request


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


def in_part(error: EasemlError, start: int) -> EasemlError:
    """Return an error in a part of a table, with the row that the part begins with."""
    if start == 0:
        return error
    where = f"{error.where}, counted from row {start:,}"
    return type(error)(error.message, remedy=error.remedy, where=where)


def like(data: Any, answers: Sequence[Prediction]) -> Any:
    """Return predictions of a table: as a frame of pandas with its index, or an Arrow table.

    Columns: ``prediction``; for categories a ``probability_CLASS`` each; for numbers ``lower`` and
    ``upper`` where the model has an interval. An array gets a frame of pandas.
    """
    columns: dict[str, list[Any]] = {}
    for answer in answers:
        for name, cells in as_columns(answer).items():
            columns.setdefault(name, []).extend(cells)
    if _is_pandas(data) or _is_array(data):
        return _pandas(columns, getattr(data, "index", None))
    import pyarrow as pa

    return pa.table(columns)


def _pandas(columns: Mapping[str, list[Any]], index: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(dict(columns), index=index)


def _of_array(data: Any) -> pa.Table:
    import pyarrow as pa

    if data.ndim != 2:
        raise InvalidInput(f"The array has {data.ndim} dimensions; a table has 2.")
    names = [f"x{place}" for place in range(data.shape[1])]
    return pa.table([pa.array(data[:, place]) for place in range(data.shape[1])], names=names)


def _is_pandas(data: Any) -> bool:
    return hasattr(data, "iloc") and hasattr(data, "columns")


def _is_array(data: Any) -> bool:
    return hasattr(data, "__array_interface__") and hasattr(data, "ndim")
