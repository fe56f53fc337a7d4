"""What a sample holds besides single values: nodes with instances, their fields, and the links
between them.

A graph is ``{"atom": {"place": array, "element": ["C", "O"]}, "links": [["atom", 0, "atom", 1]]}``:
for each node its fields, a tensor with the instances as its first axis or a list of labels;
``links`` from instance to instance, counted from 0, or None where nothing is said and the instances
of each node form a chain in their order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from easeml.schema import Field, Node, Sample, Schema

if TYPE_CHECKING:
    import numpy as np

Graph = Mapping[str, Any]
LINKS = "links"


def graph_of(sample: Sample) -> dict[str, Any]:
    """The graph of a sample: its nodes with instances and its links."""
    made: dict[str, Any] = {
        name: {
            field: list(value) if isinstance(value, tuple) else value
            for field, value in held.items()
        }
        for name, held in sample.values.items()
        if isinstance(held, Mapping)
    }
    links = sample.links
    return made | {
        LINKS: None if links is None else [[*start, *end] for start, end in sorted(links)]
    }


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
    if array.dtype.kind not in "iuf" and array.dtype != object:
        raise ValueError("it holds text" if array.dtype.kind in "US" else "it holds no numbers")
    if array.dtype == object and any(
        not isinstance(item, int | float | None) for item in array.reshape(-1).tolist()
    ):
        raise ValueError("it holds something else than numbers, or lists of different lengths")
    return array.astype(np.float64)


def to_json(graph: Graph) -> dict[str, Any]:
    """The JSON form of a graph."""
    made: dict[str, Any] = {
        name: {
            field: value if isinstance(value, list) else numbers_to_json(value)
            for field, value in held.items()
        }
        for name, held in graph.items()
        if name != LINKS
    }
    return made | (
        {} if graph.get(LINKS) is None else {LINKS: [list(link) for link in graph[LINKS]]}
    )


def from_json(value: Any) -> dict[str, Any]:
    """The graph of a JSON object. Raises ``ValueError`` or ``TypeError`` where it is none."""
    if not isinstance(value, dict):
        raise TypeError(f"found {type(value).__name__}")
    made: dict[str, Any] = {}
    for name, held in value.items():
        if name == LINKS:
            continue
        if not isinstance(held, dict):
            raise TypeError(f"'{name}' is not an object of its fields")
        made[name] = {
            field: cells if _are_labels(cells) else numbers_from_json(cells)
            for field, cells in held.items()
        }
    return made | {
        LINKS: None if value.get(LINKS) is None else [_link(link) for link in value[LINKS]]
    }


def problem(graph: Graph, schema: Schema) -> str:
    """Why a graph does not fit the nodes with instances of a schema; empty if it does."""
    nodes = {name: node for name, node in schema.nodes.items() if not node.singleton}
    for name in graph:
        if name != LINKS and name not in nodes:
            return f"has a node '{name}', which is not in the schema; there are: {', '.join(nodes)}"
    counts = {}
    for name, node in nodes.items():
        if name not in graph:
            return f"has no node '{name}'"
        said, counts[name] = _node_problem(graph[name], node, schema)
        if said:
            return f"is wrong in node '{name}': {said}"
    return _links_problem(graph[LINKS], nodes, counts)


def _node_problem(held: Mapping[str, Any], node: Node, schema: Schema) -> tuple[str, int]:
    fields = {field.name: field for field in node.fields}
    odd = sorted(held.keys() ^ fields.keys())
    if odd:
        return (
            f"field '{odd[0]}' is not there"
            if odd[0] in fields
            else f"there is no field '{odd[0]}'"
        ), 0
    lengths = {name: len(value) for name, value in held.items()}
    for name, value in held.items():
        said = _field_problem(value, fields[name], schema)
        if said:
            return f"field '{name}' {said}", 0
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{name} has {count}" for name, count in lengths.items())
        return f"its fields have different numbers of instances: {said}", 0
    return "", next(iter(lengths.values()), 0)


def _field_problem(value: Any, field: Field, schema: Schema) -> str:
    import numpy as np

    if field.type == "category":
        known = schema.classes[field.class_name].labels
        if not isinstance(value, list):
            return "holds numbers, expected labels"
        odd = next((label for label in value if known and label not in known), None)
        return (
            ""
            if odd is None
            else f"holds {odd!r}, which is none of its labels: {', '.join(known[:20])}"
        )
    if isinstance(value, list):
        return "holds labels, expected numbers" if value else ""
    if not np.isfinite(value).all():
        return "holds NaN, null or an infinite number"
    if len(value) and value.shape[1:] != tuple(field.dim):
        return f"has the shape {list(value.shape)}, expected [instances, {', '.join(map(str, field.dim))}]"
    return ""


def _links_problem(links: Any, nodes: Mapping[str, Node], counts: Mapping[str, int]) -> str:
    for start, i, end, j in links or ():
        allowed = start in nodes and any(link.target == end for link in nodes[start].links)
        if not allowed:
            return f"has a link from '{start}' to '{end}', which the schema does not have"
        if not (0 <= i < counts[start] and 0 <= j < counts[end]):
            return f"has a link from {start}/{i} to {end}/{j}, but there are {counts[start]} and {counts[end]} of them"
    return ""


def _are_labels(cells: Any) -> bool:
    return isinstance(cells, list) and all(isinstance(cell, str) for cell in cells)


def _link(link: Any) -> list[Any]:
    start, i, end, j = link
    if not (isinstance(start, str) and isinstance(end, str) and type(i) is int and type(j) is int):
        raise TypeError('a link is ["node", 0, "node", 1]')
    return [start, i, end, j]
