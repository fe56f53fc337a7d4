"""Schemas as values, read from and written to JSON."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from easeml.errors import InvalidInput

if TYPE_CHECKING:
    from easeml.schema._match import Match

TYPES = ("tensor", "category", "text", "timestamp")
_NAME = re.compile(r"[a-z_][0-9a-z_]*")

Dim = int | str  # a positive size, or the name of a variable


class SchemaError(InvalidInput):
    """The schema is not valid."""


@dataclass(frozen=True, slots=True)
class Node:
    """One singleton of a sample, or, with ``repeat``, any number (``*``) or at least one (``+``) of like ones.

    ``type`` is tensor, category, text or timestamp; ``dim`` is the shape of a tensor; ``class_name`` the class
    of a category. ``optional``: the value may be missing. ``column``: the name of the column in the user's
    table. ``format``: how a timestamp is written (strptime), empty for ISO 8601.
    """

    name: str
    type: str
    dim: tuple[Dim, ...] = ()
    class_name: str = ""
    optional: bool = False
    repeat: str = ""
    column: str = ""
    format: str = ""

    @property
    def label(self) -> str:
        """The name people know: that of the column, else that of the node."""
        return self.column or self.name


@dataclass(frozen=True, slots=True)
class CategoryClass:
    """A finite list of labels: its size (or a variable), and the labels where they are known."""

    dim: Dim
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Schema:
    """One side (input or output) of a dataset, or of what a module takes or makes.

    ``dropped`` names columns of the user's table that are no part of the schema but may come along with its rows.
    """

    nodes: Mapping[str, Node]
    classes: Mapping[str, CategoryClass] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, obj: Any) -> Schema:
        """Read a schema from its JSON form, which is not changed.

        Raises:
            SchemaError: with the dotted path of the fault in ``where``.
        """
        document = _mapping(obj, "")
        nodes = {name: _node(name, value) for name, value in _entries(document, "nodes")}
        if not nodes:
            raise SchemaError("expected at least one node", where="nodes")
        classes = {name: _class(name, value) for name, value in _entries(document, "classes")}
        used = {node.class_name for node in nodes.values() if node.type == "category"}
        for node in nodes.values():
            if node.type == "category" and node.class_name not in classes:
                raise SchemaError(
                    f"class '{node.class_name}' is not declared",
                    where=f"nodes.{node.name}.class",
                    remedy=f"Declare it in classes, one of: {', '.join(classes) or 'none declared'}.",
                )
        for name in classes:
            if name not in used:
                raise SchemaError("no category uses this class", where=f"classes.{name}")
        dropped = _strings(document.get("dropped", []), "dropped")
        return cls(nodes, classes, dropped)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form; ``Schema.from_json`` of it gives an equal schema."""
        document: dict[str, Any] = {"nodes": {name: _node_json(node) for name, node in self.nodes.items()}}
        if self.classes:
            document["classes"] = {name: _class_json(value) for name, value in self.classes.items()}
        if self.dropped:
            document["dropped"] = list(self.dropped)
        return document

    def match(self, source: Schema) -> Match | None:
        """Can data of the shape ``source`` be fed to this schema? See ``easeml.schema.match``."""
        from easeml.schema._match import match

        return match(self, source)

    def labels(self, node: str) -> tuple[str, ...]:
        """The labels of a category node, in the order that defines their indices; empty where unknown."""
        return self.classes[self.nodes[node].class_name].labels

    @cached_property
    def columns(self) -> dict[str, Node]:
        """The nodes by the name of their column in the table (of the node, where it has none)."""
        return {node.label: node for node in self.nodes.values()}

    @cached_property
    def _hash(self) -> int:
        return hash((frozenset(self.nodes.values()), frozenset(self.classes.items()), self.dropped))

    def __hash__(self) -> int:
        return self._hash


def node_names(columns: Iterable[str]) -> list[str]:
    """Return a valid node name for each column: lower case, ASCII, unique, in the same order."""
    taken: set[str] = set()
    names = []
    for column in columns:
        plain = unicodedata.normalize("NFKD", column).encode("ascii", "ignore").decode().lower()
        stem = re.sub(r"[^0-9a-z]+", "_", plain).strip("_") or "column"
        if stem[0].isdigit():
            stem = f"_{stem}"
        name, number = stem, 2
        while name in taken:
            name, number = f"{stem}_{number}", number + 1
        taken.add(name)
        names.append(name)
    return names


def _node(name: str, value: Any) -> Node:
    path = f"nodes.{name}"
    _check_name(name, path)
    node = _mapping(value, path)
    repeat = node.get("repeat", "")
    if "repeat" in node and repeat not in ("*", "+"):
        raise SchemaError(f"expected '*' or '+', found {repeat!r}", where=f"{path}.repeat")
    if node.get("singleton", bool(repeat)) is not True:
        raise SchemaError("expected true: a table has singletons only", where=f"{path}.singleton")
    if node.get("links"):
        raise SchemaError("a singleton has no links", where=f"{path}.links")
    body, path = _body(node, path)
    kind = body.get("type")
    if kind not in TYPES:
        raise SchemaError(f"expected one of {', '.join(TYPES)}, found {kind!r}", where=f"{path}.type")
    return Node(
        name,
        kind,
        dim=_dims(body.get("dim"), f"{path}.dim") if kind == "tensor" else (),
        class_name=_class_name(body.get("class"), f"{path}.class") if kind == "category" else "",
        optional=_of_type({**node, **body}, "optional", bool, False, path),
        repeat=repeat,
        column=_of_type(node, "column", str, "", path),
        format=_of_type(body, "format", str, "", path) if kind == "timestamp" else "",
    )


def _body(node: Mapping[str, Any], path: str) -> tuple[Mapping[str, Any], str]:
    """What holds the type: the node itself (short form), or its only field (long form)."""
    fields = node.get("fields")
    if not fields:
        return node, path
    fields = _mapping(fields, f"{path}.fields")
    if len(fields) != 1:
        raise SchemaError(f"a singleton has exactly one field, found {len(fields)}", where=f"{path}.fields")
    [(name, body)] = fields.items()
    _check_name(name, f"{path}.fields.{name}")
    return _mapping(body, f"{path}.fields.{name}"), f"{path}.fields.{name}"


def _class(name: str, value: Any) -> CategoryClass:
    path = f"classes.{name}"
    _check_name(name, path)
    body = _mapping(value, path)
    dim = _dim(body.get("dim"), f"{path}.dim")
    labels = _strings(body.get("labels", []), f"{path}.labels")
    if len(set(labels)) != len(labels):
        raise SchemaError("a label occurs twice", where=f"{path}.labels")
    if labels and len(labels) != dim:
        raise SchemaError(f"expected {dim} labels, found {len(labels)}", where=f"{path}.labels")
    return CategoryClass(dim, labels)


def _dims(value: Any, path: str) -> tuple[Dim, ...]:
    if not isinstance(value, list | tuple) or not value:
        raise SchemaError(f"expected a list with at least one dimension, found {value!r}", where=path)
    return tuple(_dim(item, f"{path}.{i}") for i, item in enumerate(value))


def _dim(value: Any, path: str) -> Dim:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return value
    if isinstance(value, str) and _NAME.fullmatch(value):
        return value
    raise SchemaError(f"expected a positive integer or the name of a variable, found {value!r}", where=path)


def _class_name(value: Any, path: str) -> str:
    if not isinstance(value, str):
        raise SchemaError(f"expected the name of a class, found {value!r}", where=path)
    _check_name(value, path)
    return value


def _check_name(name: Any, path: str) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise SchemaError(
            f"{name!r} is not a valid name", where=path, remedy="Use a-z, 0-9 and _, not starting with a digit."
        )


def _mapping(value: Any, path: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise SchemaError(f"expected a mapping, found {type(value).__name__}", where=path or "schema")
    return value


def _entries(document: Mapping[str, Any], key: str) -> Iterable[tuple[str, Any]]:
    if key not in document:
        return ()
    return _mapping(document[key], key).items()


def _strings(value: Any, path: str) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise SchemaError("expected a list of strings", where=path)
    return tuple(value)


def _of_type(node: Mapping[str, Any], key: str, kind: type, default: Any, path: str) -> Any:
    value = node.get(key, default)
    if not isinstance(value, kind):
        raise SchemaError(f"expected {kind.__name__}, found {value!r}", where=f"{path}.{key}")
    return value


def _node_json(node: Node) -> dict[str, Any]:
    value: dict[str, Any] = {"singleton": True, "type": node.type}
    if node.type == "tensor":
        value["dim"] = list(node.dim)
    if node.type == "category":
        value["class"] = node.class_name
    for key in ("optional", "repeat", "column", "format"):
        if getattr(node, key):
            value[key] = getattr(node, key)
    return value


def _class_json(value: CategoryClass) -> dict[str, Any]:
    return {"dim": value.dim, "labels": list(value.labels)} if value.labels else {"dim": value.dim}
