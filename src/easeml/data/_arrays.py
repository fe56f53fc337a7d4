"""NumPy files: ``.npy``, and ``.npz`` with several arrays of as many rows. One column for each place in a row."""

from __future__ import annotations

import itertools
import zipfile
import zlib
from typing import TYPE_CHECKING

from easeml.data._errors import DatasetError
from easeml.data._source import Source
from easeml.data._typed import MOST_COLUMNS, check_names

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_REMEDY = "Save arrays of numbers or text whose first dimension is the rows, without pickle."


def read_arrays(source: Source) -> pa.Table:
    """Read arrays; ``X`` of shape (rows, 8, 8) becomes the columns ``X[0,0]`` to ``X[7,7]``, ``y`` stays ``y``.

    Raises:
        DatasetError: for objects (which would be unpickled), damaged files, or arrays of different length.
    """
    import numpy as np
    import pyarrow as pa

    try:
        with source.open() as handle:
            loaded = np.load(handle, allow_pickle=False)
            arrays = {"x": loaded} if isinstance(loaded, np.ndarray) else {key: loaded[key] for key in loaded.files}
    except (ValueError, OSError, EOFError, KeyError, MemoryError, SyntaxError, zipfile.BadZipFile, zlib.error) as error:
        raise DatasetError(
            f"the arrays cannot be read ({str(error)[:200]}).", where=source.name, remedy=_REMEDY
        ) from error
    columns: dict[str, pa.Array] = {}
    rows = max((array.shape[0] for array in arrays.values() if array.ndim), default=0)
    for key, array in arrays.items():
        place = f"{source.name}, array '{key}'"
        if array.ndim == 0 or array.shape[0] != rows or not rows:
            raise DatasetError(f"its shape is {array.shape}; expected {rows} rows.", where=place, remedy=_REMEDY)
        if array.dtype.kind not in "biufUSM" or array.size // rows > MOST_COLUMNS:
            raise DatasetError(f"{array.dtype} of shape {array.shape} is no columns.", where=place, remedy=_REMEDY)
        for spot in itertools.product(*map(range, array.shape[1:])):
            name = f"{key}[{','.join(map(str, spot))}]" if spot else key
            columns[name] = _text(array[(slice(None), *spot)])
    return pa.table([*columns.values()], check_names([*columns], source.name))


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
