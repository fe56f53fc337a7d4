"""NumPy files: ``.npy``, and ``.npz`` with several arrays of as many rows.

One column for each array.
"""

from __future__ import annotations

import zipfile
import zlib
from typing import TYPE_CHECKING

from easeml.data.errors import DatasetError
from easeml.data.readers.source import Source
from easeml.data.types.cells import reported, tensor_report, to_arrow
from easeml.data.types.text_tables import check_names

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_REMEDY = "Save arrays of numbers or text whose first dimension is the rows, without pickle."


def read_arrays(source: Source) -> pa.Table:
    """Read arrays: a column of tensors for each.

    Where there is one value in a row, the column is of text or numbers.

    Raises: DatasetError: for objects (which would be unpickled), damaged files, or arrays of
        different length.
    """
    import numpy as np
    import pyarrow as pa

    try:
        with source.open() as handle:
            loaded = np.load(handle, allow_pickle=False)
            arrays = (
                {"x": loaded}
                if isinstance(loaded, np.ndarray)
                else {key: loaded[key] for key in loaded.files}
            )
    except (
        ValueError,
        OSError,
        EOFError,
        KeyError,
        MemoryError,
        SyntaxError,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        raise DatasetError(
            f"the arrays cannot be read ({str(error)[:200]}).",
            where=source.name,
            remedy=_REMEDY,
        ) from error
    fields: list[pa.Field] = []
    columns: list[pa.Array] = []
    rows = max((array.shape[0] for array in arrays.values() if array.ndim), default=0)
    for key, name in zip(arrays, check_names([*arrays], source.name), strict=True):
        array, place = arrays[key], f"{source.name}, array '{key}'"
        if array.ndim == 0 or array.shape[0] != rows or not array.size:
            raise DatasetError(
                f"its shape is {array.shape}; expected {rows} rows.",
                where=place,
                remedy=_REMEDY,
            )
        single = array.size == rows
        if array.dtype.kind not in ("biufUSM" if single else "biuf"):
            raise DatasetError(
                f"{array.dtype} of shape {array.shape} is no columns.",
                where=place,
                remedy=_REMEDY,
            )
        if single:
            field, column = pa.field(name, pa.string()), _text(array.reshape(rows))
        else:
            numbers = _floats(array)
            field, column = reported(tensor_report(name, numbers), to_arrow("tensor", numbers))
        fields.append(field)
        columns.append(column)
    return pa.table(columns, schema=pa.schema(fields))


def _floats(array: np.ndarray) -> list[np.ndarray]:
    """The rows of an array in single precision, or in double where that would round."""
    import numpy as np

    exact = array.dtype.kind == "b" or array.dtype.itemsize <= (4 if array.dtype.kind == "f" else 2)
    numbers = array.astype(np.float32 if exact else np.float64)
    return list(np.where(np.isfinite(numbers), numbers, np.nan))


def _text(values: np.ndarray) -> pa.Array:
    import numpy as np
    import pyarrow as pa

    if values.dtype.kind == "S":
        values = np.char.decode(values, "utf-8", "replace")
    if values.dtype.kind in "UM":
        return pa.array([text.strip() for text in values.astype(str).tolist()], pa.string())
    if values.dtype.kind == "b":
        values = values.astype(np.uint8)
    plain = np.ascontiguousarray(values.astype(values.dtype.newbyteorder("=")))
    if plain.dtype.kind != "f":
        return pa.array(plain).cast(pa.string())
    plain = plain.astype(np.float64) if plain.dtype.itemsize != 4 else plain
    array = pa.array(plain, mask=~np.isfinite(plain)).cast(pa.string())
    return array.fill_null("")
