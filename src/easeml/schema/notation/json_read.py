"""From JSON to schemas: every rule of the language, each fault with its path."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from easeml.schema.notation import json_values as values
from easeml.schema.notation import keys
from easeml.schema.structure import (
    IMAGE,
    TYPES,
    CategoryClass,
    Constraints,
    Dim,
    Field,
    Link,
    Node,
    SchemaError,
    Structure,
    path_of,
)


def read_json(obj: Any) -> Structure:
    """See ``Schema.from_json``."""
    document = values.mapping(obj, "schema")
    keys.warn_of_unknown(document, keys.DOCUMENT, "")
    if "nodes" not in document:
        raise SchemaError(
            "expected a mapping of nodes, found nothing.",
            where="nodes",
            remedy=keys.meant_by(document, "nodes", keys.DOCUMENT),
        )

    nodes = {}
    for name, value in values.mapping(document["nodes"], "nodes").items():
        nodes[name] = _node(name, value)
    if not nodes:
        raise SchemaError(
            "expected at least one node.",
            where="nodes",
        )

    classes = {}
    for name, value in values.mapping(document.get("classes", {}), "classes").items():
        classes[name] = _class(name, value)

    schema = Structure(
        nodes,
        classes,
        dropped=values.strings(document.get("dropped", []), "dropped"),
        constraints=_constraints(document.get("ref-constraints", {})),
        src_dims=values.src_dims(document.get("src-dims")),
    )
    _check_targets(schema)
    _check_declared(schema, document)
    _check_used(schema)
    _check_undirected(schema)
    return schema


def _check_targets(schema: Structure) -> None:
    """Links lead to non-singletons."""
    non_singletons = [node.name for node in schema.non_singletons()]
    for node, link in schema.links():
        path = f"nodes.{node.name}.links.{link.target}"
        if link.target not in schema.nodes:
            raise SchemaError(
                "expected the name of a node.",
                where=path,
                remedy=f"Link to one of: {', '.join(non_singletons)}.",
            )
        if link.target not in non_singletons:
            raise SchemaError(
                "expected a non-singleton: a singleton has no instances to link to.",
                where=path,
            )


def _check_declared(schema: Structure, document: Mapping[str, Any]) -> None:
    """Every class that a category names is declared."""
    for node, value in schema.categories():
        if value.class_name in schema.classes:
            continue
        declared = ", ".join(schema.classes) or "none"
        mistyped = keys.meant_by(document, "classes", keys.DOCUMENT)
        raise SchemaError(
            f"class '{value.class_name}' is not declared.",
            where=f"{path_of(node, value)}.class",
            remedy=mistyped or f"Declare it in classes; declared: {declared}.",
        )


def _check_used(schema: Structure) -> None:
    """Every declared class is that of a category."""
    used = {value.class_name for _, value in schema.categories()}
    for name in schema.classes:
        if name not in used:
            raise SchemaError(
                "no category uses this class.",
                where=f"classes.{name}",
                remedy="Remove it, or name it as the class of a category.",
            )


def _check_undirected(schema: Structure) -> None:
    """Without fan-in an instance of an undirected graph has two neighbours at most."""
    if not schema.constraints.undirected or schema.constraints.fan_in:
        return

    for node in schema.non_singletons():
        total = sum(link.most for link in node.links)
        if total > 2:
            limit = "at most 2 in all, as links are undirected without fan-in"
            raise SchemaError(
                f"expected upper bounds of {limit}, found {total}.",
                where=f"nodes.{node.name}.links",
                remedy="Lower them, or set ref-constraints.fan-in to true.",
            )


def _node(name: Any, value: Any) -> Node:
    path = f"nodes.{name}"
    values.check_name(name, path)
    node = values.mapping(value, path)

    repeat = node.get("repeat", "")
    if node.get("repeat", "*") not in ("*", "+"):
        raise SchemaError(
            f"expected '*' or '+', found {values.shown(repeat)}.",
            where=f"{path}.repeat",
        )

    # What is repeated is a singleton without saying so.
    singleton = values.of_type(node, "singleton", bool, bool(repeat), path)
    if singleton:
        return _singleton(name, node, repeat, path)
    if repeat:
        raise SchemaError(
            "only a singleton can be repeated.",
            where=f"{path}.repeat",
        )
    return _non_singleton(name, node, path)


def _singleton(name: str, node: Mapping[str, Any], repeat: str, path: str) -> Node:
    if values.optional_mapping(node.get("links"), f"{path}.links"):
        raise SchemaError(
            "a singleton has no links.",
            where=f"{path}.links",
        )

    body, place = _singleton_body(node, path)
    # The long form may have these beside its field.
    shared = {key: node[key] for key in ("optional", "src-name") if key in node}
    value = _value({**shared, **body}, place)
    return Node(
        name,
        **value,
        repeat=repeat,
        column=values.of_type(node, "column", str, "", path),
        missing=values.strings(node.get("missing", []), f"{path}.missing"),
        labels=_labels(node, value.get("dim", ()), path),
        separator=values.of_type(node, "separator", str, "", path),
        parts=values.strings(node.get("parts", []), f"{path}.parts"),
    )


def _labels(node: Mapping[str, Any], dim: tuple[Dim, ...], path: str) -> tuple[str, ...]:
    """The labels of which a row may have several: one for each element of a tensor."""
    labels = values.strings(node.get("labels", []), f"{path}.labels")
    if labels and dim != (len(labels),):
        raise SchemaError(
            f"expected the labels of a tensor of {len(labels)} elements.",
            where=f"{path}.labels",
        )
    if len(set(labels)) != len(labels):
        raise SchemaError("a label occurs twice.", where=f"{path}.labels")
    return labels


def _singleton_body(node: Mapping[str, Any], path: str) -> tuple[Mapping[str, Any], str]:
    """What holds the type: the node itself (short form), or its only field (long form)."""
    fields = values.optional_mapping(node.get("fields"), f"{path}.fields")
    if not fields:
        known = {*keys.SINGLETON, *keys.value_keys(node.get("type"))}
        keys.warn_of_unknown(node, known, path)
        return node, path

    if len(fields) != 1:
        raise SchemaError(
            f"a singleton has exactly one field, found {len(fields)}.",
            where=f"{path}.fields",
        )

    keys.warn_of_unknown(node, {*keys.SINGLETON, "optional"}, path)
    [(name, value)] = fields.items()
    return _field_body(name, value, path)


def _field_body(name: Any, value: Any, path: str) -> tuple[Mapping[str, Any], str]:
    """The mapping that describes a field of the node at ``path``, and its own path."""
    place = f"{path}.fields.{name}"
    values.check_name(name, place)
    body = values.mapping(value, place)
    known = keys.value_keys(body.get("type"))
    keys.warn_of_unknown(body, known, place)
    return body, place


def _non_singleton(name: str, node: Mapping[str, Any], path: str) -> Node:
    keys.warn_of_unknown(node, keys.NON_SINGLETON, path)
    fields = values.optional_mapping(node.get("fields"), f"{path}.fields")
    links = values.optional_mapping(node.get("links"), f"{path}.links")
    if not fields and not links:
        _refuse_empty(node, path)

    made_fields = []
    for key, value in fields.items():
        body, place = _field_body(key, value, path)
        made_fields.append(Field(key, **_value(body, place)))

    made_links = []
    for target, bound in links.items():
        link = _link(target, bound, f"{path}.links.{target}")
        made_links.append(link)

    return Node(
        name,
        src_name=values.src_name(node, path),
        fields=tuple(made_fields),
        links=tuple(made_links),
    )


def _refuse_empty(node: Mapping[str, Any], path: str) -> NoReturn:
    """Say what a non-singleton without fields and links was likely meant to be."""
    if "type" in node:
        raise SchemaError(
            "expected true: a node with a type of its own is a singleton.",
            where=f"{path}.singleton",
            remedy='Write "singleton": true, or use "fields".',
        )

    meant_fields = keys.meant_by(node, "fields", keys.NON_SINGLETON)
    meant_links = keys.meant_by(node, "links", keys.NON_SINGLETON)
    raise SchemaError(
        "expected at least one field or link.",
        where=path,
        remedy=meant_fields or meant_links,
    )


def _value(body: Mapping[str, Any], path: str) -> dict[str, Any]:
    """The attributes of the ``Field`` that ``body`` describes, but for its name."""
    types = ", ".join(TYPES)
    kind = values.required(body, "type", keys.value_keys(None), path, f"one of {types}")
    if kind not in TYPES:
        raise SchemaError(
            f"expected one of {types}, found {values.shown(kind)}.",
            where=f"{path}.type",
        )

    value = {
        "type": kind,
        "optional": values.of_type(body, "optional", bool, False, path),
        "src_name": values.src_name(body, path),
    }
    return value | _OF_TYPE[kind](body, path)


def _tensor(body: Mapping[str, Any], path: str) -> dict[str, Any]:
    dim = values.dims(body, path)
    return {
        "dim": dim,
        "format": _tensor_format(body, dim, path),
        "src_dim": values.src_dim(body, path),
    }


def _category(body: Mapping[str, Any], path: str) -> dict[str, Any]:
    return {"class_name": values.class_name(body, path)}


def _timestamp(body: Mapping[str, Any], path: str) -> dict[str, Any]:
    return {"format": values.of_type(body, "format", str, "", path)}


def _text(body: Mapping[str, Any], path: str) -> dict[str, Any]:
    return {}


# The attributes of a field that are its type's alone.
_OF_TYPE: dict[str, Callable[[Mapping[str, Any], str], dict[str, Any]]] = {
    "tensor": _tensor,
    "category": _category,
    "timestamp": _timestamp,
    "text": _text,
    "document": _text,
}


def _tensor_format(body: Mapping[str, Any], dim: tuple[Dim, ...], path: str) -> str:
    """How a number is written, or that the tensor comes as a picture."""
    form = values.of_type(body, "format", str, "", path)
    if form == IMAGE or dim == (1,) or "parts" in body:
        return form
    return ""  # how a number is written says nothing of several


def _class(name: Any, value: Any) -> CategoryClass:
    path = f"classes.{name}"
    values.check_name(name, path)
    body = values.mapping(value, path)
    keys.warn_of_unknown(body, keys.CLASS, path)
    expected = "a positive integer or the name of a variable"
    size = values.required(body, "dim", keys.CLASS, path, expected)
    dim = values.dim(size, f"{path}.dim", values.NAME, expected)

    labels = values.strings(body.get("labels", []), f"{path}.labels")
    if len(set(labels)) != len(labels):
        raise SchemaError(
            "a label occurs twice.",
            where=f"{path}.labels",
        )
    if labels and len(labels) != dim:
        raise SchemaError(
            f"expected {dim} labels, found {len(labels)}.",
            where=f"{path}.labels",
        )
    return CategoryClass(dim, labels, values.src_name(body, path))


def _constraints(value: Any) -> Constraints:
    path = "ref-constraints"
    flags = values.mapping(value, path)
    keys.warn_of_unknown(flags, keys.CONSTRAINTS, path)
    return Constraints(
        cyclic=values.of_type(flags, "cyclic", bool, False, path),
        undirected=values.of_type(flags, "undirected", bool, False, path),
        fan_in=values.of_type(flags, "fan-in", bool, False, path),
    )


def _link(target: Any, bound: Any, path: str) -> Link:
    values.check_name(target, path)
    if not isinstance(bound, list | tuple):
        exact = values.count(bound, 1, path)
        return Link(target, exact, exact)

    if len(bound) != 2:
        raise SchemaError(
            f"expected [lower, upper], found {len(bound)} elements.",
            where=path,
        )

    lower = values.count(bound[0], 0, f"{path}.0")
    if bound[1] == "inf":
        return Link(target, lower, None)

    upper = values.count(bound[1], 1, f"{path}.1", " or 'inf'")
    if lower > upper:
        raise SchemaError(
            f"expected a lower bound of at most {upper}, found {lower}.",
            where=path,
        )
    return Link(target, lower, upper)
