"""The schemas of tables: from columns to nodes, and back to the types of columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from easeml.data.types.cells import CELLS, GRAPH
from easeml.data.types.column_report import ColumnReport
from easeml.schema import CategoryClass, Node, Schema, node_names


def schema_of(columns: list[ColumnReport], dropped: tuple[str, ...]) -> Schema:
    """The schema of these columns; labels are in it where the reports have them all."""
    graph = Schema({})
    plain = []
    for column in columns:
        if column.type == "graph":
            graph = Schema.from_json(column.content)
        else:
            plain.append(column)

    # A node is also the name of its class, so that no name may be taken by the graph.
    classes = dict(graph.classes)
    taken = [*graph.nodes, *classes]
    names = node_names([*taken, *(column.name for column in plain)])[len(taken) :]

    nodes = {}
    for name, column in zip(names, plain, strict=True):
        nodes[name] = _node_of(name, column)
        if column.type == "category":
            classes[name] = _class_of(column)
    return Schema({**nodes, **graph.nodes}, classes, dropped, graph.constraints)


def kind_of(node: Node) -> str:
    """The column type of a singleton of a table's schema."""
    if node.type != "tensor":
        return node.type
    if node.dim == (1,):
        return "number"
    return "image" if node.format == "image" else "tensor"


def kinds_of(schema: Schema) -> dict[str, str]:
    """The columns of a table's schema and their types; all with instances are one, a graph."""
    singletons = [node for node in schema.nodes.values() if node.singleton]
    kinds = {node.label: kind_of(node) for node in singletons}
    if len(singletons) < len(schema.nodes):
        kinds[GRAPH] = "graph"
    return kinds


def without_columns(schema_in: Mapping[str, Any], columns: Collection[str]) -> dict[str, Any]:
    """Return a table's schema (JSON) without some columns of numbers."""
    nodes = {}
    for name, node in schema_in["nodes"].items():
        if node.get("column", name) not in columns:
            nodes[name] = node
    return {**schema_in, "nodes": nodes}


def with_gaps(schema: Schema, columns: Collection[str]) -> Schema:
    """Return a table's schema in which some columns may lack values, whether they did or not."""
    nodes = {}
    for name, node in schema.nodes.items():
        may_lack = node.label in columns
        nodes[name] = replace(node, optional=node.optional or may_lack)
    return replace(schema, nodes=nodes)


def node_of(schema: Schema, column: str) -> Node:
    """The node of a column of a table; a graph has none of its own, and any does for it."""
    return schema.columns.get(column, next(iter(schema.nodes.values())))


def labels_of(schema: Schema, node: Node) -> tuple[str, ...]:
    """The labels of a node; empty where it is no category, or where they are unknown."""
    if node.type != "category":
        return ()
    return schema.labels(node.name)


def _node_of(name: str, column: ColumnReport) -> Node:
    """The singleton of a column."""
    node = Node(
        name,
        column.type,
        optional=column.missing > 0,
        column=column.name,
        missing=tuple(column.missing_codes),
    )
    if column.type in CELLS:
        form = column.content.get("format", "")
        return replace(
            node,
            type="tensor",
            dim=tuple(column.content["dim"]),
            format=form,
            parts=tuple(column.content.get("parts", ())),
        )
    labels = column.content.get("labels", ())
    special = {
        "labels": {
            "type": "tensor",
            "dim": (len(labels),),
            "labels": tuple(labels),
            "separator": column.content.get("separator", ""),
            "parts": tuple(column.content.get("parts", ())),
        },
        "number": {"type": "tensor", "dim": (1,), "format": column.format},
        "category": {"class_name": name},
        "timestamp": {"format": column.format},
    }
    return replace(node, **special.get(column.type, {}))


def _class_of(column: ColumnReport) -> CategoryClass:
    """The class of a category column; its labels only where all are known."""
    all_known = len(column.classes) == column.distinct
    labels = tuple(column.classes) if all_known else ()
    return CategoryClass(column.distinct, labels)
