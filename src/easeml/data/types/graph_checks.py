"""Whether a graph is what the schema says of its nodes with instances, and of their links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import filterfalse
from typing import Any

from easeml.data.types.bad_cell import BadCell
from easeml.data.types.graphs import LINKS, Graph
from easeml.schema import Field, Node, Schema


def check_graph(graph: Graph, schema: Schema) -> None:
    """Raise ``BadCell`` where a graph does not fit the nodes with instances of a schema."""
    nodes = {name: node for name, node in schema.nodes.items() if not node.singleton}
    _check_names(graph, nodes)
    for name, node in nodes.items():
        if name not in graph:
            raise BadCell(f"has no node '{name}'")
        _check_node(graph[name], node, schema, f"is wrong in node '{name}'")
    _check_links(graph, nodes)


def _check_names(graph: Graph, nodes: Mapping[str, Node]) -> None:
    unknown = next(filterfalse((LINKS, *nodes).__contains__, graph), None)
    if unknown is not None:
        known = ", ".join(nodes)
        raise BadCell(f"has a node '{unknown}', which is not in the schema; there are: {known}")


def _check_node(held: Mapping[str, Any], node: Node, schema: Schema, place: str) -> None:
    """Check the fields of a node; ``place`` is how a message about it begins."""
    fields = {field.name: field for field in node.fields}
    for name in sorted(held.keys() ^ fields.keys()):
        if name in fields:
            raise BadCell(f"{place}: field '{name}' is not there")
        raise BadCell(f"{place}: there is no field '{name}'")

    for name, value in held.items():
        _check_field(value, fields[name], schema, f"{place}: field '{name}'")

    lengths = list(map(len, held.values()))
    if len(set(lengths)) > 1:
        said = ", ".join(map("{} has {}".format, held, lengths))
        raise BadCell(f"{place}: its fields have different numbers of instances: {said}")


def _check_field(value: Any, field: Field, schema: Schema, place: str) -> None:
    if field.type == "category":
        _check_labels(value, schema.classes[field.class_name].labels, place)
    elif not isinstance(value, list):
        _check_numbers(value, field, place)
    elif value:  # an empty list says no more than that there is no instance
        raise BadCell(f"{place} holds labels, expected numbers")


def _check_numbers(value: Any, field: Field, place: str) -> None:
    import numpy as np

    if not np.isfinite(value).all():
        raise BadCell(f"{place} holds NaN, null or an infinite number")
    if len(value) and value.shape[1:] != tuple(field.dim):
        expected = ", ".join(map(str, field.dim))
        shape = list(value.shape)
        raise BadCell(f"{place} has the shape {shape}, expected [instances, {expected}]")


def _check_labels(value: Any, known: Sequence[str], place: str) -> None:
    """Refuse what is no label of a class; any are where its labels are not ``known``."""
    if not isinstance(value, list):
        raise BadCell(f"{place} holds numbers, expected labels")
    if not known:
        return
    new = next(filterfalse(known.__contains__, value), None)
    if new is not None:
        labels = ", ".join(known[:20])
        raise BadCell(f"{place} holds {new!r}, which is none of its labels: {labels}")


def _check_links(graph: Graph, nodes: Mapping[str, Node]) -> None:
    counts = {}
    targets = {}
    for name, node in nodes.items():
        counts[name] = _instances(graph[name])
        targets[name] = [link.target for link in node.links]
    for link in graph[LINKS] or ():
        _check_link(link, targets, counts)


def _check_link(
    link: Sequence[Any], targets: Mapping[str, Sequence[str]], counts: Mapping[str, int]
) -> None:
    """Check that the schema has links of this kind, and the graph the instances that it joins."""
    start, i, end, j = link
    if end not in targets.get(start, ()):
        raise BadCell(f"has a link from '{start}' to '{end}', which the schema does not have")
    are_there = 0 <= i < counts[start] and 0 <= j < counts[end]
    if not are_there:
        there = f"there are {counts[start]} and {counts[end]} of them"
        raise BadCell(f"has a link from {start}/{i} to {end}/{j}, but {there}")


def _instances(held: Mapping[str, Any]) -> int:
    """How many instances a node has, whose fields have equally many."""
    return len(next(iter(held.values()), ()))
