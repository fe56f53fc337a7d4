"""What a sample holds besides single values: nodes with instances, their fields and their links.

A graph is ``{"atom": {"place": array, "element": ["C", "O"]}, "links": [["atom", 0, "atom", 1]]}``:
for each node its fields, a tensor with the instances as its first axis or a list of labels;
``links`` from instance to instance, counted from 0, or None where nothing is said and the instances
of each node form a chain in their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from easeml.schema import Field, Node, Sample, Schema

if TYPE_CHECKING:
    import numpy as np

Graph = Mapping[str, Any]
LINKS = "links"


def graph_of(sample: Sample) -> dict[str, Any]:
    """The graph of a sample: its nodes with instances and its links."""
    graph: dict[str, Any] = {}
    for name, held in sample.values.items():
        if not isinstance(held, Mapping):
            continue  # a single value
        fields: dict[str, Any] = dict(held)
        for field, value in held.items():
            if isinstance(value, tuple):
                fields[field] = list(value)
        graph[name] = fields

    graph[LINKS] = None
    if sample.links is not None:
        graph[LINKS] = [[*start, *end] for start, end in sorted(sample.links)]
    return graph


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

    kind = array.dtype.kind
    if kind in "iuf":
        return array.astype(np.float64)
    if kind in "US":
        raise ValueError("it holds text")
    if kind != "O":
        raise ValueError("it holds no numbers")

    # Objects: numbers with null among them, or what is no array at all.
    for item in array.reshape(-1).tolist():
        if not isinstance(item, int | float | None):
            raise ValueError("it holds something else than numbers, or lists of different lengths")
    return array.astype(np.float64)


def to_json(graph: Graph) -> dict[str, Any]:
    """The JSON form of a graph."""
    document: dict[str, Any] = {}
    for name, held in graph.items():
        if name == LINKS:
            continue
        fields = dict(held)
        for field, value in held.items():
            if not isinstance(value, list):
                fields[field] = numbers_to_json(value)
        document[name] = fields

    if graph.get(LINKS) is not None:
        document[LINKS] = [list(link) for link in graph[LINKS]]
    return document


def from_json(value: Any) -> dict[str, Any]:
    """The graph of a JSON object. Raises ``ValueError`` or ``TypeError`` where it is none."""
    if not isinstance(value, dict):
        raise TypeError(f"found {type(value).__name__}")

    graph: dict[str, Any] = {}
    for name, held in value.items():
        if name == LINKS:
            continue
        if not isinstance(held, dict):
            raise TypeError(f"'{name}' is not an object of its fields")
        fields = dict(held)
        for field, cells in held.items():
            if not _are_labels(cells):
                fields[field] = numbers_from_json(cells)
        graph[name] = fields

    graph[LINKS] = None
    if value.get(LINKS) is not None:
        graph[LINKS] = [_link(link) for link in value[LINKS]]
    return graph


def problem(graph: Graph, schema: Schema) -> str:
    """Why a graph does not fit the nodes with instances of a schema; empty if it does."""
    nodes = {name: node for name, node in schema.nodes.items() if not node.singleton}
    for name in graph:
        if name != LINKS and name not in nodes:
            known = ", ".join(nodes)
            return f"has a node '{name}', which is not in the schema; there are: {known}"

    counts = {}
    for name, node in nodes.items():
        if name not in graph:
            return f"has no node '{name}'"
        said = _node_problem(graph[name], node, schema)
        if said:
            return f"is wrong in node '{name}': {said}"
        counts[name] = _instances(graph[name])
    return _links_problem(graph[LINKS], nodes, counts)


def _instances(held: Mapping[str, Any]) -> int:
    """How many instances a node has, whose fields have equally many."""
    return len(next(iter(held.values()), ()))


def _node_problem(held: Mapping[str, Any], node: Node, schema: Schema) -> str:
    fields = {field.name: field for field in node.fields}
    for name in sorted(held.keys() | fields.keys()):
        if name not in held:
            return f"field '{name}' is not there"
        if name not in fields:
            return f"there is no field '{name}'"

    for name, value in held.items():
        said = _field_problem(value, fields[name], schema)
        if said:
            return f"field '{name}' {said}"

    lengths = {name: len(value) for name, value in held.items()}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{name} has {count}" for name, count in lengths.items())
        return f"its fields have different numbers of instances: {said}"
    return ""


def _field_problem(value: Any, field: Field, schema: Schema) -> str:
    if field.type == "category":
        return _labels_problem(value, schema.classes[field.class_name].labels)
    if isinstance(value, list):
        return "holds labels, expected numbers" if value else ""

    import numpy as np

    if not np.isfinite(value).all():
        return "holds NaN, null or an infinite number"
    if len(value) and value.shape[1:] != tuple(field.dim):
        expected = ", ".join(map(str, field.dim))
        return f"has the shape {list(value.shape)}, expected [instances, {expected}]"
    return ""


def _labels_problem(value: Any, known: Sequence[str]) -> str:
    """Why these are no labels of a class; any are where its labels are not known."""
    if not isinstance(value, list):
        return "holds numbers, expected labels"
    if not known:
        return ""

    odd = [label for label in value if label not in known]
    if not odd:
        return ""
    return f"holds {odd[0]!r}, which is none of its labels: {', '.join(known[:20])}"


def _links_problem(links: Any, nodes: Mapping[str, Node], counts: Mapping[str, int]) -> str:
    kinds: set[tuple[str, str]] = set()
    for name, node in nodes.items():
        kinds.update((name, link.target) for link in node.links)
    for start, i, end, j in links or ():
        if (start, end) not in kinds:
            return f"has a link from '{start}' to '{end}', which the schema does not have"
        if not (0 <= i < counts[start] and 0 <= j < counts[end]):
            there = f"there are {counts[start]} and {counts[end]} of them"
            return f"has a link from {start}/{i} to {end}/{j}, but {there}"
    return ""


def _are_labels(cells: Any) -> bool:
    if not isinstance(cells, list):
        return False
    return all(isinstance(cell, str) for cell in cells)


def _link(link: Any) -> list[Any]:
    start, i, end, j = link
    if [type(part) for part in link] != [str, int, str, int]:
        raise TypeError('a link is ["node", 0, "node", 1]')
    return [start, i, end, j]
