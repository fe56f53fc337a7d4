"""Columns whose cells are no single values: pictures, tensors (arrays of any rank) and graphs.

In an upload, and in a version, an ``image`` column is Arrow binary (the file's bytes as they were
brought), a ``tensor`` column a struct of ``shape`` and ``data``, and a ``graph`` column JSON text.
In frames they are object columns: bytes, float arrays, and dictionaries
(``easeml.data.types.graphs``). In requests and in manifests they are JSON: base64 text, nested
lists with null for NaN, and an object.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

from easeml.data.types import pictures
from easeml.data.types.bad_cell import BadCell
from easeml.data.types.cell_kinds import CELL_KINDS, shown
from easeml.data.types.column_report import ColumnReport, Dim, dimensions
from easeml.data.types.text_tables import noted
from easeml.schema import Node, Schema

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

__all__ = [
    "CELLS",
    "GRAPH",
    "BadCell",
    "cell_text",
    "check",
    "from_arrow",
    "from_json",
    "json_example",
    "object_array",
    "report_of",
    "reported",
    "shown",
    "tensor_report",
    "to_arrow",
    "to_json",
]

CELLS = ("image", "tensor", "graph")
GRAPH = "graph"  # the column of everything in a sample that has instances
_REPORT = b"report"
_SHOWN = 20_000  # characters of an example
_SHOWN_DIGITS = 4  # of its numbers


def reported(report: ColumnReport, array: pa.Array) -> tuple[pa.Field, pa.Array]:
    """The field and the array of a cell column; what its reader saw travels with it."""
    import pyarrow as pa

    metadata = {_REPORT: json.dumps(report.to_json())}
    return pa.field(report.name, array.type, metadata=metadata), array


def report_of(field: pa.Field) -> ColumnReport | None:
    """What the reader saw in a cell column; None for a column of text."""
    found = noted(field, _REPORT)
    if not found:
        return None
    return ColumnReport.from_json(json.loads(found))


def tensor_report(name: str, arrays: Sequence[np.ndarray]) -> ColumnReport:
    """What a column of these arrays (all of one rank) is: a dimension that differs is a variable."""
    import numpy as np

    shapes = [array.shape for array in arrays]
    dim, sizes = dimensions(shapes, map("d{}".format, count(1)))
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
        examples=_array_example(arrays[0], dim),
        content={"dim": dim},
    )


def json_example(kind: str, cell: Any) -> list[str]:
    """The cell as JSON, for a form to begin with; nothing where that is very long.

    Its numbers have few digits, so that a person sees what it is.
    """
    text = json.dumps(to_json(kind, cell))
    text = json.dumps(json.loads(text, parse_float=_with_few_digits))
    if len(text) > _SHOWN:
        return []
    return [text]


def _array_example(array: np.ndarray, dim: Sequence[Dim]) -> list[str]:
    """An array as JSON; of a long one, where arrays may have any length, what it begins with."""
    found = json_example("tensor", array)
    lengths = [place for place, size in enumerate(dim) if isinstance(size, str)]
    if found or not lengths:
        return found
    axis = lengths[0]
    digits = _SHOWN_DIGITS + len("[-.e-00], ")  # of a number, at most
    others = max(1, array.size // max(1, array.shape[axis]))
    steps = max(1, _SHOWN // (digits * others))
    return json_example("tensor", array.take(range(min(steps, array.shape[axis])), axis))


def _with_few_digits(number: str) -> float:
    return float(f"{float(number):.{_SHOWN_DIGITS}g}")


def object_array(values: Sequence[Any]) -> np.ndarray:
    """An object array of these cells; NumPy alone would make one array of arrays that are alike."""
    import numpy as np

    made = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        made[place] = value
    return made


def to_arrow(kind: str, cells: Sequence[Any]) -> pa.Array:
    """The Arrow array of the cells of a frame; none of them is missing."""
    return CELL_KINDS[kind].to_arrow(cells)


def from_arrow(kind: str, column: pa.ChunkedArray) -> np.ndarray:
    """The cells of a frame, an object array."""
    return object_array(CELL_KINDS[kind].from_arrow(column))


def cell_text(cell: Any) -> str:
    """What a page shows of a cell: a picture as a data address, else what it is in a few words."""
    return _SHOWN_AS.get(type(cell), _size_of_array)(cell)


def _size_of_array(cell: np.ndarray) -> str:
    return f"{' x '.join(map(str, cell.shape))} numbers"


_SHOWN_AS: dict[type, Callable[[Any], str]] = {
    bytes: pictures.data_url,
    dict: lambda _: "a graph",
}
"""How cells are shown, by their types; others are arrays."""


def to_json(kind: str, cell: Any) -> Any:
    """The JSON form of a cell."""
    return CELL_KINDS[kind].to_json(cell)


def from_json(kind: str, value: Any) -> Any:
    """The cell of a JSON value. Raises ``BadCell`` where it is none of its kind."""
    try:
        return CELL_KINDS[kind].from_json(value)
    except (ValueError, TypeError, AttributeError, KeyError, OverflowError) as error:
        raise BadCell(CELL_KINDS[kind].refusal.format(error)) from error


def check(kind: str, cell: Any, node: Node, schema: Schema) -> Any:
    """The cell, if it is what the schema says. Raises ``BadCell``.

    ``node``: of an image or a tensor; a graph is checked against all nodes with instances of
    ``schema``.
    """
    CELL_KINDS[kind].check(cell, node, schema)
    return cell
