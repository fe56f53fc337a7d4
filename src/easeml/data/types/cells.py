"""Columns whose cells are no single values: pictures, tensors (arrays of any rank) and graphs.

In an upload, and in a version, an ``image`` column is Arrow binary (the file's bytes as they were
brought), a ``tensor`` column a struct of ``shape`` and ``data``, and a ``graph`` column JSON text.
In frames they are object columns: bytes, float arrays, and dictionaries
(``easeml.data.types.graphs``). In requests and in manifests they are JSON: base64 text, nested
lists with null for NaN, and an object.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from easeml.data.types import graphs, pictures
from easeml.data.types.column_report import ColumnReport
from easeml.schema import Dim, Node, Schema

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

CELLS = ("image", "tensor", "graph")
GRAPH = "graph"  # the column of everything in a sample that has instances
_REPORT = b"report"
_SHOWN = 2000  # characters of an example


class BadCell(ValueError):
    """A cell that is not what the schema says.

    The message is the end of a sentence that begins with its place.
    """


def reported(report: ColumnReport, array: pa.Array) -> tuple[pa.Field, pa.Array]:
    """The field and the array of a cell column; what its reader saw travels with it."""
    import pyarrow as pa

    metadata = {_REPORT: json.dumps(report.to_json())}
    return pa.field(report.name, array.type, metadata=metadata), array


def report_of(field: pa.Field) -> ColumnReport | None:
    """What the reader saw in a cell column; None for a column of text."""
    found = (field.metadata or {}).get(_REPORT)
    if found is None:
        return None
    return ColumnReport.from_json(json.loads(found))


def tensor_report(name: str, arrays: Sequence[np.ndarray]) -> ColumnReport:
    """What a column of these arrays (all of one rank) is: a dimension that differs is a variable."""
    import numpy as np

    shapes = np.array([array.shape for array in arrays])
    dim: list[Dim] = []
    sizes = []
    pairs = zip(shapes.min(axis=0), shapes.max(axis=0), strict=True)
    for axis, (low, high) in enumerate(pairs, 1):
        varies = low != high
        dim.append(f"d{axis}" if varies else int(low))
        sizes.append(f"{low} to {high}" if varies else f"{low}")

    said = f"Arrays of shape {' x '.join(sizes)}."
    holes = sum(not bool(np.isfinite(array).all()) for array in arrays)
    if holes:
        said += f" {holes} of {len(arrays)} hold missing numbers."

    return ColumnReport(
        name,
        "tensor",
        "input",
        missing=holes / len(arrays),
        distinct=len(arrays),
        evidence=said,
        examples=json_example("tensor", arrays[0]),
        content={"dim": dim},
    )


def json_example(kind: str, cell: Any) -> list[str]:
    """The cell as JSON, for a form to begin with; nothing where that is long."""
    text = json.dumps(to_json(kind, cell))
    return [text] if len(text) <= _SHOWN else []


def object_array(values: Sequence[Any]) -> np.ndarray:
    """An object array of these cells; NumPy alone would make one array of arrays that are alike."""
    import numpy as np

    made = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        made[place] = value
    return made


def to_arrow(kind: str, cells: Sequence[Any]) -> pa.Array:
    """The Arrow array of the cells of a frame; none of them is missing."""
    import numpy as np
    import pyarrow as pa

    if kind == "image":
        return pa.array(cells, pa.large_binary())
    if kind == "graph":
        texts = [json.dumps(graphs.to_json(cell)) for cell in cells]
        return pa.array(texts, pa.large_string())

    wanted = np.result_type(np.float32, *{array.dtype for array in cells})
    flat = [np.ascontiguousarray(array, wanted).reshape(-1) for array in cells]
    ends = np.cumsum([len(part) for part in flat])
    offsets = np.concatenate([[0], ends]).astype(np.int64)
    numbers = np.concatenate([np.zeros(0, wanted), *flat])
    data = pa.LargeListArray.from_arrays(offsets, numbers)
    shapes = pa.array([list(array.shape) for array in cells], pa.list_(pa.int32()))
    return pa.StructArray.from_arrays([shapes, data], ["shape", "data"])


def from_arrow(kind: str, column: pa.ChunkedArray) -> np.ndarray:
    """The cells of a frame, an object array."""
    import numpy as np

    if kind == "image":
        return object_array(column.to_pylist())
    if kind == "graph":
        texts = column.to_pylist()
        return object_array([graphs.from_json(json.loads(text)) for text in texts])

    found: list[np.ndarray] = []
    for chunk in column.chunks:
        shapes = chunk.field("shape").to_pylist()
        data = chunk.field("data")
        ends = np.cumsum(data.value_lengths().to_numpy(zero_copy_only=False))
        parts = np.split(data.flatten().to_numpy(zero_copy_only=False), ends[:-1])
        found += [part.reshape(shape) for part, shape in zip(parts, shapes, strict=False)]
    return object_array(found)


def cell_text(cell: Any) -> str:
    """What a page shows of a cell: a picture as a data address, else what it is in a few words."""
    if isinstance(cell, bytes):
        return pictures.data_url(cell)
    if isinstance(cell, dict):
        return "a graph"
    return f"{' x '.join(map(str, cell.shape))} numbers"


def to_json(kind: str, cell: Any) -> Any:
    """The JSON form of a cell."""
    if kind == "image":
        return base64.b64encode(cell).decode()
    if kind == "graph":
        return graphs.to_json(cell)
    return graphs.numbers_to_json(cell)


def from_json(kind: str, value: Any) -> Any:
    """The cell of a JSON value. Raises ``BadCell`` where it is none of its kind."""
    try:
        if kind == "image":
            # Perhaps as an address, ``data:image/png;base64,...``.
            text = value.partition(",")[2] if value.startswith("data:") else value
            return base64.b64decode("".join(text.split()), validate=True)
        if kind == "graph":
            return graphs.from_json(value)
        return graphs.numbers_from_json(value)
    except (
        ValueError,
        TypeError,
        AttributeError,
        KeyError,
        OverflowError,
        binascii.Error,
    ) as error:
        said = {
            "image": "is not base64 text of a picture file",
            "tensor": f"is not nested lists of numbers ({error})",
            "graph": f"is not a graph ({error})",
        }
        raise BadCell(said[kind]) from error


def check(kind: str, cell: Any, node: Node, schema: Schema) -> Any:
    """The cell, if it is what the schema says. Raises ``BadCell``.

    ``node``: of an image or a tensor; a graph is checked against all nodes with instances of
    ``schema``.
    """
    if kind == "graph":
        problem = graphs.problem(cell, schema)
        if problem:
            raise BadCell(problem)
        return cell
    if kind == "image":
        try:
            shape = pictures.shape_of(cell)
        except pictures.NoPicture as error:
            raise BadCell(f"is not a picture: {error}") from error
    else:
        shape = cell.shape
        _check_holes(cell, node)
    if not fits(shape, node.dim):
        raise BadCell(f"has the shape {shown(shape)}, expected {shown(node.dim)}")
    return cell


def fits(shape: Sequence[int], dim: Sequence[Dim]) -> bool:
    """Whether an array of this shape is a tensor of ``dim``, whose variables stand for any size."""
    if len(shape) != len(dim) or 0 in shape:
        return False
    for size, wanted in zip(shape, dim, strict=True):
        if isinstance(wanted, int) and wanted != size:
            return False
    return True


def shown(dim: Sequence[Dim]) -> str:
    """A shape as people read it."""
    return f"[{', '.join(map(str, dim))}]"


def _check_holes(cell: np.ndarray, node: Node) -> None:
    import numpy as np

    # Where training data had missing numbers, NaN is one.
    finite = np.isfinite(cell)
    good = ~np.isinf(cell) if node.optional else finite
    if not good.all():
        place = ", ".join(map(str, np.argwhere(~finite)[0].tolist()))
        raise BadCell(
            f"holds no number (NaN, null or infinite) at [{place}]; training data had one everywhere"
        )
