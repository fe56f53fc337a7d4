"""NumPy files: ``.npy``, and ``.npz`` with several arrays of as many rows.

One column for each array.
"""

from __future__ import annotations

import tokenize
import zipfile
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from easeml.data.errors import DatasetError, refusing
from easeml.data.readers.source import Source
from easeml.data.types.cells import reported, tensor_report, to_arrow
from easeml.data.types.text_tables import check_names

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_REMEDY = "Save arrays of numbers or text whose first dimension is the rows, without pickle."
_DAMAGED = (  # what the libraries raise for files that are not what they should be
    ValueError, OSError, EOFError, KeyError, MemoryError, SyntaxError, zipfile.BadZipFile,
    zlib.error, tokenize.TokenError,
)  # fmt: skip


def read_arrays(source: Source) -> pa.Table:
    """Read arrays: a column of tensors for each.

    Where there is one value in a row, the column is of text or numbers.

    Raises: DatasetError: for objects (which would be unpickled), damaged files, or arrays of
        different length.
    """
    import pyarrow as pa

    arrays = _loaded(source)
    fields: list[pa.Field] = []
    columns: list[pa.Array] = []
    rows = max((array.shape[0] for array in arrays.values() if array.ndim), default=0)
    names = check_names([*arrays], source.name)
    for (key, array), name in zip(arrays.items(), names, strict=True):
        _check(array, rows, f"{source.name}, array '{key}'")
        if array.size == rows:
            field = pa.field(name, pa.string())
            column = _text(array.reshape(rows))
        else:
            numbers = _floats(array)
            field, column = reported(tensor_report(name, numbers), to_arrow("tensor", numbers))
        fields.append(field)
        columns.append(column)
    return pa.table(columns, schema=pa.schema(fields))


def _loaded(source: Source) -> dict[str, np.ndarray]:
    """The arrays of a file by name; a single one is called x."""
    import numpy as np

    said = "the arrays cannot be read ({error})."
    with (
        refusing(_DAMAGED, said, source.name, _REMEDY, longest=200),
        source.open() as handle,
    ):
        loaded = np.load(handle, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {"x": loaded}
        return {key: loaded[key] for key in loaded.files}


def _check(array: np.ndarray, rows: int, place: str) -> None:
    """Refuse an array that is no column of so many rows: of values, or of tensors of numbers."""
    if array.shape[:1] != (rows,) or not array.size:
        raise DatasetError(
            f"its shape is {array.shape}; expected {rows} rows.",
            where=place,
            remedy=_REMEDY,
        )
    kinds = "biufUSM" if array.size == rows else "biuf"
    if array.dtype.kind not in kinds:
        raise DatasetError(
            f"{array.dtype} of shape {array.shape} does not hold columns.",
            where=place,
            remedy=_REMEDY,
        )


def _floats(array: np.ndarray) -> list[np.ndarray]:
    """The rows of an array in single precision, or in double where that would round."""
    import numpy as np

    exact_bytes = {"b": 1, "f": 4}.get(array.dtype.kind, 2)
    exact = array.dtype.itemsize <= exact_bytes
    numbers = array.astype(np.float32 if exact else np.float64)
    return list(np.where(np.isfinite(numbers), numbers, np.nan))


def _text(values: np.ndarray) -> pa.Array:
    """Single values as text."""
    return _TEXTS[values.dtype.kind](values)


def _stripped(values: np.ndarray) -> pa.Array:
    """Texts and moments as text."""
    import pyarrow as pa

    texts = values.astype(str).tolist()
    return pa.array(list(map(str.strip, texts)), pa.string())


def _decoded(values: np.ndarray) -> pa.Array:
    """Bytes as text."""
    import numpy as np

    return _stripped(np.char.decode(values, "utf-8", "replace"))


def _truths(values: np.ndarray) -> pa.Array:
    """Truth values as 0 and 1."""
    return _whole_text(values.astype("uint8"))


def _whole_text(values: np.ndarray) -> pa.Array:
    """Whole numbers as text."""
    import numpy as np
    import pyarrow as pa

    plain = np.ascontiguousarray(values.astype(values.dtype.newbyteorder("=")))
    return pa.array(plain).cast(pa.string())


def _float_text(values: np.ndarray) -> pa.Array:
    """Floats as text; empty where one is not finite."""
    import numpy as np
    import pyarrow as pa

    is_single = values.dtype.itemsize == 4
    plain = np.ascontiguousarray(values.astype(np.float32 if is_single else np.float64))
    numbers = pa.array(plain, mask=~np.isfinite(plain))
    return numbers.cast(pa.string()).fill_null("")


_TEXTS: dict[str, Callable[[np.ndarray], pa.Array]] = {
    "b": _truths,
    "i": _whole_text,
    "u": _whole_text,
    "f": _float_text,
    "U": _stripped,
    "S": _decoded,
    "M": _stripped,
}
"""How single values become text, by the kind of their type."""
