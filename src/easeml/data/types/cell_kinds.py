"""What each kind of cell is in frames, in Arrow and in JSON, and whether it fits a schema."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

from easeml.data.types import graphs, pictures
from easeml.data.types.bad_cell import BadCell
from easeml.data.types.graph_checks import check_graph
from easeml.schema import Dim, Node, Schema

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


class CellKind(Protocol):
    """A kind of cell. ``refusal``: what is said of JSON that is none, with the reason in ``{}``."""

    refusal: str

    def to_arrow(self, cells: Sequence[Any]) -> pa.Array:
        """The Arrow array of cells."""
        ...

    def from_arrow(self, column: pa.ChunkedArray) -> Sequence[Any]:
        """The cells of a column."""
        ...

    def to_json(self, cell: Any) -> Any:
        """The JSON form of a cell."""
        ...

    def from_json(self, value: Any) -> Any:
        """The cell of a JSON value, which may be anything: raises what comes of that."""
        ...

    def check(self, cell: Any, node: Node, schema: Schema) -> None:
        """Raise ``BadCell`` where a cell is not what the schema says."""
        ...


class Pictures:
    """The bytes of picture files, as they were brought."""

    refusal = "is not base64 text of a picture file"

    def to_arrow(self, cells: Sequence[Any]) -> pa.Array:
        import pyarrow as pa

        return pa.array(cells, pa.large_binary())

    def from_arrow(self, column: pa.ChunkedArray) -> Sequence[Any]:
        return column.to_pylist()

    def to_json(self, cell: Any) -> Any:
        return base64.b64encode(cell).decode()

    def from_json(self, value: Any) -> Any:
        if value.startswith("data:"):  # an address, ``data:image/png;base64,...``
            value = value.partition(",")[2]
        return base64.b64decode("".join(value.split()), validate=True)

    def check(self, cell: Any, node: Node, schema: Schema) -> None:
        try:
            shape = pictures.shape_of(cell)
        except pictures.NoPicture as error:
            raise BadCell(f"is not a picture: {error}") from error
        _check_shape(shape, node.dim)


class Tensors:
    """Arrays of any rank, in Arrow structs of ``shape`` and ``data``."""

    refusal = "is not nested lists of numbers ({})"

    def to_arrow(self, cells: Sequence[Any]) -> pa.Array:
        """In single precision where that holds all arrays."""
        import numpy as np
        import pyarrow as pa

        wanted = np.result_type(np.float32, *{array.dtype for array in cells})
        flat = [np.ascontiguousarray(array, wanted).reshape(-1) for array in cells]
        ends = np.cumsum(list(map(len, flat)))
        offsets = np.concatenate([[0], ends]).astype(np.int64)
        numbers = np.concatenate([np.zeros(0, wanted), *flat])
        data = pa.LargeListArray.from_arrays(offsets, numbers)
        shapes = pa.array([list(array.shape) for array in cells], pa.list_(pa.int32()))
        return pa.StructArray.from_arrays([shapes, data], ["shape", "data"])

    def from_arrow(self, column: pa.ChunkedArray) -> Sequence[Any]:
        return list(chain.from_iterable(map(_tensors_of, column.chunks)))

    def to_json(self, cell: Any) -> Any:
        return graphs.numbers_to_json(cell)

    def from_json(self, value: Any) -> Any:
        return graphs.numbers_from_json(value)

    def check(self, cell: Any, node: Node, schema: Schema) -> None:
        _check_holes(cell, node)
        _check_shape(cell.shape, node.dim)


class Graphs:
    """Everything in a sample that has instances, in Arrow as JSON text."""

    refusal = "is not a graph ({})"

    def to_arrow(self, cells: Sequence[Any]) -> pa.Array:
        import pyarrow as pa

        texts = [json.dumps(graphs.to_json(cell)) for cell in cells]
        return pa.array(texts, pa.large_string())

    def from_arrow(self, column: pa.ChunkedArray) -> Sequence[Any]:
        documents = map(json.loads, column.to_pylist())
        return list(map(graphs.from_json, documents))

    def to_json(self, cell: Any) -> Any:
        return graphs.to_json(cell)

    def from_json(self, value: Any) -> Any:
        return graphs.from_json(value)

    def check(self, cell: Any, node: Node, schema: Schema) -> None:
        """Check it against all nodes with instances, whatever ``node`` is."""
        check_graph(cell, schema)


CELL_KINDS: dict[str, CellKind] = {"image": Pictures(), "tensor": Tensors(), "graph": Graphs()}


def _tensors_of(structs: pa.StructArray) -> Iterator[np.ndarray]:
    import numpy as np

    shapes = structs.field("shape").to_pylist()
    data = structs.field("data")
    ends = np.cumsum(data.value_lengths().to_numpy(zero_copy_only=False))
    parts = np.split(data.flatten().to_numpy(zero_copy_only=False), ends[:-1])
    return map(np.reshape, parts, shapes)


def _check_holes(cell: np.ndarray, node: Node) -> None:
    import numpy as np

    is_wrong = ~np.isfinite(cell)
    if node.optional:  # training data had missing numbers, so NaN is one
        is_wrong = np.isinf(cell)
    if is_wrong.any():
        place = ", ".join(map(str, np.argwhere(is_wrong)[0].tolist()))
        raise BadCell(
            f"holds no number (NaN, null or infinite) at [{place}]; training data had one everywhere"
        )


def _check_shape(shape: Sequence[int], dim: Sequence[Dim]) -> None:
    """Refuse an array that is no tensor of ``dim``, or an empty one."""
    fits = len(shape) == len(dim) and all(map(_is_size, shape, dim))
    if not fits or 0 in shape:
        raise BadCell(f"has the shape {shown(shape)}, expected {shown(dim)}")


def _is_size(size: int, wanted: Dim) -> bool:
    """Whether a size is the one that is wanted; a variable stands for any."""
    return isinstance(wanted, str) or size == wanted


def shown(dim: Sequence[Dim]) -> str:
    """A shape as people read it."""
    return f"[{', '.join(map(str, dim))}]"
