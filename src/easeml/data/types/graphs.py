"""What a sample holds besides single values: nodes with instances, their fields and their links.

A graph is ``{"atom": {"place": array, "element": ["C", "O"]}, "links": [["atom", 0, "atom", 1]]}``:
for each node its fields, a tensor with the instances as its first axis or labels in a list;
``links`` from instance to instance, counted from 0, or None where nothing is said and the instances
of each node form a chain in their order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from easeml.schema import Sample

if TYPE_CHECKING:
    import numpy as np

Graph = Mapping[str, Any]
LINKS = "links"
_OTHERS = {"U": "it holds text", "S": "it holds text"}  # what is said of arrays by their kinds
_NUMBER_OR_NULL = {int, float, bool, type(None)}


def graph_of(sample: Sample) -> dict[str, Any]:
    """The graph of a sample: its nodes with instances and its links."""
    graph: dict[str, Any] = dict(filter(_has_instances, sample.values.items()))
    graph[LINKS] = None
    if sample.links is not None:
        graph[LINKS] = [[*start, *end] for start, end in sorted(sample.links)]
    return graph


def _has_instances(value: tuple[str, Any]) -> bool:
    """Whether a value of a sample, which comes with its name, is no single one."""
    return isinstance(value[1], Mapping)


def numbers_to_json(array: np.ndarray) -> Any:
    """Nested lists, null for what is no number."""
    import numpy as np

    if np.isfinite(array).all():
        return array.tolist()
    made = array.astype(object)
    made[~np.isfinite(array)] = None
    return made.tolist()


def numbers_from_json(value: Any) -> np.ndarray:
    """The array of nested lists; null is NaN.

    Raises ``ValueError`` or ``TypeError`` for anything else.
    """
    import numpy as np

    if not isinstance(value, list):
        raise TypeError(f"found {type(value).__name__}")
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError("the lists are of different lengths") from error
    _check_numbers(array)
    return array.astype(np.float64)


def _check_numbers(array: np.ndarray) -> None:
    """Raise ``ValueError`` where an array of JSON values has others than numbers and null."""
    kind = array.dtype.kind
    if kind not in "iufO":
        raise ValueError(_OTHERS.get(kind, "it holds no numbers"))
    # Objects are numbers with null among them, or what is no array at all.
    if kind == "O" and not set(map(type, array.flat)) <= _NUMBER_OR_NULL:
        raise ValueError("it holds something else than numbers, or lists of different lengths")


def to_json(graph: Graph) -> dict[str, Any]:
    """The JSON form of a graph."""
    nodes = dict(graph)
    links = nodes.pop(LINKS, None)
    document: dict[str, Any] = {}
    for name, held in nodes.items():
        document[name] = {field: _values_to_json(value) for field, value in held.items()}
    if links is not None:
        document[LINKS] = list(map(list, links))
    return document


def _values_to_json(value: Any) -> Any:
    """The values of a field: labels as they are, numbers as nested lists."""
    return value if isinstance(value, list | tuple) else numbers_to_json(value)


def from_json(value: Any) -> dict[str, Any]:
    """The graph of a JSON object. Raises ``ValueError`` or ``TypeError`` where it is none."""
    if not isinstance(value, dict):
        raise TypeError(f"found {type(value).__name__}")

    nodes = dict(value)
    links = nodes.pop(LINKS, None)
    graph: dict[str, Any] = {name: _fields_from_json(name, held) for name, held in nodes.items()}
    graph[LINKS] = None
    if links is not None:
        graph[LINKS] = list(map(_link, links))
    return graph


def _fields_from_json(node: str, held: Any) -> dict[str, Any]:
    if not isinstance(held, dict):
        raise TypeError(f"'{node}' is not an object of its fields")
    return {field: _values_from_json(value) for field, value in held.items()}


def _values_from_json(value: Any) -> Any:
    """The values of a field: labels where all are text, also where there is none, else numbers."""
    if isinstance(value, list) and set(map(type, value)) <= {str}:
        return value
    return numbers_from_json(value)


def _link(link: Any) -> list[Any]:
    start, i, end, j = link
    if list(map(type, link)) != [str, int, str, int]:
        raise TypeError('a link is ["node", 0, "node", 1]')
    return [start, i, end, j]
