"""From schemas to JSON."""

from __future__ import annotations

from typing import Any

from easeml.schema.structure import CategoryClass, Field, Link, Node, Structure


def write_json(schema: Structure) -> dict[str, Any]:
    """See ``Schema.to_json``. Singletons are in short form, bounds are lists of two."""
    flags = schema.constraints
    document: dict[str, Any] = {
        "nodes": {name: _node(node) for name, node in schema.nodes.items()},
        "ref-constraints": {
            "cyclic": flags.cyclic,
            "undirected": flags.undirected,
            "fan-in": flags.fan_in,
        },
    }
    if schema.classes:
        document["classes"] = {name: _class(value) for name, value in schema.classes.items()}
    if schema.dropped:
        document["dropped"] = list(schema.dropped)
    if schema.src_dims:
        document["src-dims"] = dict(schema.src_dims)
    return document


def _node(node: Node) -> dict[str, Any]:
    if node.singleton:
        return _singleton(node)

    value: dict[str, Any] = {
        "singleton": False,
        "fields": {field.name: _value(field) for field in node.fields},
        "links": {link.target: _bound(link) for link in node.links},
    }
    if node.src_name:
        value["src-name"] = node.src_name
    return value


def _singleton(node: Node) -> dict[str, Any]:
    value = {"singleton": True, **_value(node)}
    if node.repeat:
        value["repeat"] = node.repeat
    if node.column:
        value["column"] = node.column
    if node.missing:
        value["missing"] = list(node.missing)
    return value


def _value(value: Field) -> dict[str, Any]:
    made: dict[str, Any] = {"type": value.type}
    if value.type == "tensor":
        made["dim"] = list(value.dim)
    if value.type == "category":
        made["class"] = value.class_name
    if value.optional:
        made["optional"] = True
    if value.format:
        made["format"] = value.format
    if value.src_name:
        made["src-name"] = value.src_name
    if value.src_dim:
        made["src-dim"] = list(value.src_dim)
    return made


def _class(value: CategoryClass) -> dict[str, Any]:
    made: dict[str, Any] = {"dim": value.dim}
    if value.labels:
        made["labels"] = list(value.labels)
    if value.src_name:
        made["src-name"] = value.src_name
    return made


def _bound(link: Link) -> list[int | str]:
    upper = "inf" if link.upper is None else link.upper
    return [link.lower, upper]
