"""From JSON to schemas: every rule of the language, each fault with its path."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

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
)

_NAME = re.compile(r"[a-z_][0-9a-z_]*")
_WILD_NAME = re.compile(r"[a-z_][0-9a-z_]*[?+*]?")


def read_json(obj: Any) -> Structure:
    """See ``Schema.from_json``."""
    document = _mapping(obj, "")
    keys.warn_of_unknown(document, keys.DOCUMENT, "")
    if "nodes" not in document:
        remedy = keys.meant_by(document, "nodes", keys.DOCUMENT)
        raise SchemaError(
            "expected a mapping of nodes, found nothing.", where="nodes", remedy=remedy
        )
    nodes = {
        name: _node(name, value) for name, value in _mapping(document["nodes"], "nodes").items()
    }
    if not nodes:
        raise SchemaError("expected at least one node.", where="nodes")
    classes = {
        name: _class(name, value)
        for name, value in _mapping(document.get("classes", {}), "classes").items()
    }
    schema = Structure(
        nodes,
        classes,
        _strings(document.get("dropped", []), "dropped"),
        _constraints(document.get("ref-constraints", {})),
        _src_dims(document.get("src-dims")),
    )
    _check_targets(schema)
    _check_classes(schema, document)
    _check_undirected(schema)
    return schema


def _check_targets(schema: Structure) -> None:
    for node in schema.nodes.values():
        for link in node.links:
            path = f"nodes.{node.name}.links.{link.target}"
            target = schema.nodes.get(link.target)
            if target is None:
                some = ", ".join(name for name, node in schema.nodes.items() if not node.singleton)
                raise SchemaError(
                    "expected the name of a node.", where=path, remedy=f"Link to one of: {some}."
                )
            if target.singleton:
                raise SchemaError(
                    "expected a non-singleton: a singleton has no instances to link to.", where=path
                )


def _check_classes(schema: Structure, document: Mapping[str, Any]) -> None:
    used: set[str] = set()
    for node in schema.nodes.values():
        for value in node.values:
            if value.type != "category":
                continue
            used.add(value.class_name)
            if value.class_name not in schema.classes:
                path = (
                    f"nodes.{node.name}"
                    if node.singleton
                    else f"nodes.{node.name}.fields.{value.name}"
                )
                remedy = f"Declare it in classes; declared: {', '.join(schema.classes) or 'none'}."
                raise SchemaError(
                    f"class '{value.class_name}' is not declared.",
                    where=f"{path}.class",
                    remedy=keys.meant_by(document, "classes", keys.DOCUMENT) or remedy,
                )
    for name in schema.classes:
        if name not in used:
            remedy = "Remove it, or name it as the class of a category."
            raise SchemaError(
                "no category uses this class.", where=f"classes.{name}", remedy=remedy
            )


def _check_undirected(schema: Structure) -> None:
    """Without fan-in an instance of an undirected graph has two neighbours at most."""
    if not schema.constraints.undirected or schema.constraints.fan_in:
        return
    for node in schema.nodes.values():
        uppers = [link.upper for link in node.links]
        total = sum(upper for upper in uppers if upper is not None)
        if None in uppers or total > 2:
            found = "inf" if None in uppers else total
            raise SchemaError(
                f"expected upper bounds of at most 2 in all, as links are undirected without fan-in, found {found}.",
                where=f"nodes.{node.name}.links",
                remedy="Lower them, or set ref-constraints.fan-in to true.",
            )


def _node(name: Any, value: Any) -> Node:
    path = f"nodes.{name}"
    _check_name(name, path)
    node = _mapping(value, path)
    repeat = node.get("repeat", "")
    if "repeat" in node and repeat not in ("*", "+"):
        raise SchemaError(f"expected '*' or '+', found {_shown(repeat)}.", where=f"{path}.repeat")
    if not _of_type(node, "singleton", bool, bool(repeat), path):
        if repeat:
            raise SchemaError("only a singleton can be repeated.", where=f"{path}.repeat")
        return _non_singleton(name, node, path)
    if _optional_mapping(node, "links", path):
        raise SchemaError("a singleton has no links.", where=f"{path}.links")
    body, place = _singleton_body(node, path)
    shared = {key: node[key] for key in ("optional", "src-name") if key in node}
    value = _value({**shared, **body}, place)
    column = _of_type(node, "column", str, "", path)
    missing = _strings(node.get("missing", []), f"{path}.missing")
    return Node(name, **value, repeat=repeat, column=column, missing=missing)


def _singleton_body(node: Mapping[str, Any], path: str) -> tuple[Mapping[str, Any], str]:
    """What holds the type: the node itself (short form), or its only field (long form)."""
    fields = _optional_mapping(node, "fields", path)
    if not fields:
        keys.warn_of_unknown(node, {*keys.SINGLETON, *keys.value_keys(node.get("type"))}, path)
        return node, path
    if len(fields) != 1:
        raise SchemaError(
            f"a singleton has exactly one field, found {len(fields)}.", where=f"{path}.fields"
        )
    keys.warn_of_unknown(node, {*keys.SINGLETON, "optional"}, path)
    [(name, body)] = fields.items()
    place = f"{path}.fields.{name}"
    _check_name(name, place)
    body = _mapping(body, place)
    keys.warn_of_unknown(body, keys.value_keys(body.get("type")), place)
    return body, place


def _non_singleton(name: str, node: Mapping[str, Any], path: str) -> Node:
    keys.warn_of_unknown(node, keys.NON_SINGLETON, path)
    fields = _optional_mapping(node, "fields", path)
    links = _optional_mapping(node, "links", path)
    if not fields and not links:
        if "type" in node:
            message = "expected true: a node with a type of its own is a singleton."
            raise SchemaError(
                message,
                where=f"{path}.singleton",
                remedy='Write "singleton": true, or use "fields".',
            )
        remedy = keys.meant_by(node, "fields", keys.NON_SINGLETON) or keys.meant_by(
            node, "links", keys.NON_SINGLETON
        )
        raise SchemaError("expected at least one field or link.", where=path, remedy=remedy)
    made = []
    for key, value in fields.items():
        place = f"{path}.fields.{key}"
        _check_name(key, place)
        body = _mapping(value, place)
        keys.warn_of_unknown(body, keys.value_keys(body.get("type")), place)
        made.append(Field(key, **_value(body, place)))
    return Node(
        name,
        src_name=_src_name(node, path),
        fields=tuple(made),
        links=tuple(
            _link(target, bound, f"{path}.links.{target}") for target, bound in links.items()
        ),
    )


def _value(body: Mapping[str, Any], path: str) -> dict[str, Any]:
    """The attributes of the ``Field`` that ``body`` describes, but for its name."""
    kind = _required(body, "type", keys.value_keys(None), path, f"one of {', '.join(TYPES)}")
    if kind not in TYPES:
        raise SchemaError(
            f"expected one of {', '.join(TYPES)}, found {_shown(kind)}.", where=f"{path}.type"
        )
    dim = _dims(body, path) if kind == "tensor" else ()
    return {
        "type": kind,
        "dim": dim,
        "class_name": _class_name(body, path) if kind == "category" else "",
        "optional": _of_type(body, "optional", bool, False, path),
        "format": _format(body, kind, dim, path),
        "src_name": _src_name(body, path),
        "src_dim": _src_dim(body, path) if kind == "tensor" else (),
    }


def _format(body: Mapping[str, Any], kind: str, dim: tuple[Dim, ...], path: str) -> str:
    form = _of_type(body, "format", str, "", path) if kind in ("timestamp", "tensor") else ""
    if kind == "tensor" and dim != (1,) and form != IMAGE:
        return ""  # how a number is written says nothing of several
    return form


def _class(name: Any, value: Any) -> CategoryClass:
    path = f"classes.{name}"
    _check_name(name, path)
    body = _mapping(value, path)
    keys.warn_of_unknown(body, keys.CLASS, path)
    expected = "a positive integer or the name of a variable"
    dim = _dim(_required(body, "dim", keys.CLASS, path, expected), f"{path}.dim", _NAME, expected)
    labels = _strings(body.get("labels", []), f"{path}.labels")
    if len(set(labels)) != len(labels):
        raise SchemaError("a label occurs twice.", where=f"{path}.labels")
    if labels and len(labels) != dim:
        raise SchemaError(f"expected {dim} labels, found {len(labels)}.", where=f"{path}.labels")
    return CategoryClass(dim, labels, _src_name(body, path))


def _constraints(value: Any) -> Constraints:
    path = "ref-constraints"
    flags = _mapping(value, path)
    keys.warn_of_unknown(flags, keys.CONSTRAINTS, path)
    return Constraints(*(_of_type(flags, key, bool, False, path) for key in keys.CONSTRAINTS))


def _link(target: Any, bound: Any, path: str) -> Link:
    _check_name(target, path)
    if not isinstance(bound, list | tuple):
        return Link(target, _count(bound, 1, path), bound)
    if len(bound) != 2:
        raise SchemaError(f"expected [lower, upper], found {len(bound)} elements.", where=path)
    lower = _count(bound[0], 0, f"{path}.0")
    upper = None if bound[1] == "inf" else _count(bound[1], 1, f"{path}.1", " or 'inf'")
    if upper is not None and lower > upper:
        raise SchemaError(f"expected a lower bound of at most {upper}, found {lower}.", where=path)
    return Link(target, lower, upper)


def _count(value: Any, least: int, path: str, other: str = "") -> int:
    if _is_integer(value) and value >= least:
        return value
    raise SchemaError(
        f"expected an integer of at least {least}{other}, found {_shown(value)}.", where=path
    )


def _dims(body: Mapping[str, Any], path: str) -> tuple[Dim, ...]:
    place = f"{path}.dim"
    value = _required(body, "dim", keys.value_keys("tensor"), path, "a list of dimensions")
    if not isinstance(value, list | tuple) or not value:
        raise SchemaError(
            f"expected a list with at least one dimension, found {_shown(value)}.", where=place
        )
    dims = _dim_list(value, place)
    wild = [dim for dim in dims if isinstance(dim, str) and dim[-1] in "?+*"]
    if len(wild) > 1:
        raise SchemaError(
            f"expected at most one of ? + * in a tensor, found {', '.join(wild)}.", where=place
        )
    if wild and len(dims) == 1 and wild[0][-1] != "+":
        message = (
            f"expected '{wild[0][:-1]}+' or '{wild[0][:-1]}': a tensor has at least one dimension."
        )
        raise SchemaError(message, where=place)
    return dims


def _src_dim(body: Mapping[str, Any], path: str) -> tuple[Dim, ...]:
    value = body.get("src-dim", [])
    if not isinstance(value, list | tuple):
        raise SchemaError(
            f"expected a list of dimensions, found {_shown(value)}.", where=f"{path}.src-dim"
        )
    return _dim_list(value, f"{path}.src-dim")


def _dim_list(value: Collection[Any], path: str) -> tuple[Dim, ...]:
    expected = "a positive integer, or the name of a variable with at most one of ? + * behind it"
    return tuple(_dim(item, f"{path}.{i}", _WILD_NAME, expected) for i, item in enumerate(value))


def _dim(value: Any, path: str, pattern: re.Pattern[str], expected: str) -> Dim:
    if (_is_integer(value) and value >= 1) or (isinstance(value, str) and pattern.fullmatch(value)):
        return value
    raise SchemaError(f"expected {expected}, found {_shown(value)}.", where=path)


def _src_dims(value: Any) -> dict[str, Dim]:
    if value is None:
        return {}
    for name, size in _mapping(value, "src-dims").items():
        if not isinstance(size, str) and not _is_integer(size):
            raise SchemaError(
                f"expected an integer or a name, found {_shown(size)}.", where=f"src-dims.{name}"
            )
    return dict(value)


def _src_name(body: Mapping[str, Any], path: str) -> str:
    name = body.get("src-name", "")
    if "src-name" in body:
        _check_name(name, f"{path}.src-name")
    return name


def _class_name(body: Mapping[str, Any], path: str) -> str:
    value = _required(body, "class", keys.value_keys("category"), path, "the name of a class")
    if not isinstance(value, str):
        raise SchemaError(
            f"expected the name of a class, found {_shown(value)}.", where=f"{path}.class"
        )
    _check_name(value, f"{path}.class")
    return value


def _required(
    body: Mapping[str, Any], key: str, known: Collection[str], path: str, expected: str
) -> Any:
    if key in body:
        return body[key]
    remedy = keys.meant_by(body, key, known)
    raise SchemaError(f"expected {expected}, found nothing.", where=f"{path}.{key}", remedy=remedy)


def _check_name(name: Any, path: str) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        remedy = "Use a-z, 0-9 and _, not starting with a digit."
        raise SchemaError(f"expected a name, found {_shown(name)}.", where=path, remedy=remedy)


def _mapping(value: Any, path: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise SchemaError(f"expected a mapping, found {_shown(value)}.", where=path or "schema")
    return value


def _optional_mapping(node: Mapping[str, Any], key: str, path: str) -> Mapping[str, Any]:
    """A mapping that may be absent or null, which count as empty."""
    value = node.get(key)
    return {} if value is None else _mapping(value, f"{path}.{key}")


def _strings(value: Any, path: str) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise SchemaError("expected a list of strings.", where=path)
    return tuple(value)


def _of_type(node: Mapping[str, Any], key: str, kind: type, default: Any, path: str) -> Any:
    value = node.get(key, default)
    if not isinstance(value, kind):
        expected = "true or false" if kind is bool else "a string"
        raise SchemaError(f"expected {expected}, found {_shown(value)}.", where=f"{path}.{key}")
    return value


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    """A value as it may stand in a message."""
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple) and len(value) > 4:
        return f"a list of {len(value)}"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
