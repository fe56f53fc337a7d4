"""From schemas to JSON."""

from __future__ import annotations

from typing import Any

from easeml.schema.structure import CategoryClass, Field, Link, Node, Structure


def write_json(schema: Structure) -> dict[str, Any]:
    """See ``Schema.to_json``. Singletons are in short form, bounds are lists of two."""
    classes = {name: _class(value) for name, value in schema.classes.items()}
    return {
        "nodes": {name: _node(node) for name, node in schema.nodes.items()},
        "ref-constraints": schema.constraints.flags(),
        **_without_empty(
            {
                "classes": classes,
                "dropped": list(schema.dropped),
                "src-dims": dict(schema.src_dims),
            }
        ),
    }


def _without_empty(entries: dict[str, Any]) -> dict[str, Any]:
    """The entries that say something; a reader takes the others as empty."""
    return {key: value for key, value in entries.items() if value}


def _node(node: Node) -> dict[str, Any]:
    if node.singleton:
        return _singleton(node)

    return {
        "singleton": False,
        "fields": {field.name: _value(field) for field in node.fields},
        "links": {link.target: _bound(link) for link in node.links},
        **_without_empty({"src-name": node.src_name}),
    }


def _singleton(node: Node) -> dict[str, Any]:
    about_column = {
        "repeat": node.repeat,
        "column": node.column,
        "missing": list(node.missing),
        "labels": list(node.labels),
        "separator": node.separator,
        "parts": list(node.parts),
    }
    return {"singleton": True, **_value(node), **_without_empty(about_column)}


def _value(value: Field) -> dict[str, Any]:
    return _without_empty(
        {
            "type": value.type,
            "dim": list(value.dim),
            "class": value.class_name,
            "optional": value.optional,
            "format": value.format,
            "src-name": value.src_name,
            "src-dim": list(value.src_dim),
        }
    )


def _class(value: CategoryClass) -> dict[str, Any]:
    return _without_empty(
        {
            "dim": value.dim,
            "labels": list(value.labels),
            "src-name": value.src_name,
        }
    )


def _bound(link: Link) -> list[int | str]:
    upper = "inf" if link.upper is None else link.upper
    return [link.lower, upper]
