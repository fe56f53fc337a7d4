"""From schemas to the short text form; the grammar is in ``docs/schema.md``."""

from __future__ import annotations

import json
from collections import Counter

from easeml.schema.structure import IMAGE, CategoryClass, Field, Link, Node, Structure

LONE = "value"  # the name of a node that is written without one
_WIDTH = 100


def write_text(schema: Structure) -> str:
    """See ``Schema.to_text``. One line where it is short, else a line for each node."""
    own = _own_classes(schema)
    clauses = _clauses(schema, own)
    nodes = list(schema.nodes.values())
    if len(nodes) == 1 and not clauses and _is_lone(nodes[0]):
        return _value(schema, nodes[0], own)
    parts = [_node(schema, node, own) for node in nodes]
    line = f"{{{', '.join(parts)}}}"
    if len(line) > _WIDTH:
        line = "{\n" + "".join(f"  {part},\n" for part in parts) + "}"
    return " ".join([line, *clauses])


def _is_lone(node: Node) -> bool:
    return (
        node.singleton
        and node.name == LONE
        and not node.repeat
        and not node.column
        and not node.missing
    )


def _own_classes(schema: Structure) -> set[str]:
    """The classes that one category alone has, by whose name they go: they are written where they
    are used.
    """
    values = [
        value for node in schema.nodes.values() for value in node.values if value.type == "category"
    ]
    uses = Counter(value.class_name for value in values)
    defaults = Counter(value.name for value in values)
    return {
        value.class_name
        for value in values
        if value.name == value.class_name
        and uses[value.class_name] == 1
        and defaults[value.name] == 1
    }


def _node(schema: Structure, node: Node, own: set[str]) -> str:
    if node.singleton:
        column = f" {_quoted(node.column)}" if node.column else ""
        missing = f" missing ({', '.join(map(_quoted, node.missing))})" if node.missing else ""
        return f"{node.name}{node.repeat}{column}: {_value(schema, node, own)}{missing}"
    fields = ", ".join(f"{field.name}: {_value(schema, field, own)}" for field in node.fields)
    links = ", ".join(f"{link.target}: {_bound(link)}" for link in node.links)
    return f"{node.name}: [{fields}]" + (f" links {{{links}}}" if links else "")


def _value(schema: Structure, value: Field, own: set[str]) -> str:
    text = value.type
    if value.type == "tensor":
        word = value.format if value.format == IMAGE else "tensor"
        text = f"{word}[{', '.join(map(str, value.dim))}]"
        if value.dim == (1,) and value.format != IMAGE:
            text = _number(value.format)
    elif value.type == "category" and value.class_name in own:
        text = f"category({_members(schema.classes[value.class_name])})"
    elif value.type == "category":
        text = f"category of {value.class_name}"
    elif value.format:
        text = f"timestamp({_quoted(value.format)})"
    return text + ("?" if value.optional else "")


def _number(form: str) -> str:
    return f"number({_quoted(form)})" if form else "number"


def _clauses(schema: Structure, own: set[str]) -> list[str]:
    flags = schema.constraints
    clauses = [
        word
        for word, wanted in (
            ("cyclic", flags.cyclic),
            ("undirected", flags.undirected),
            ("fan-in", flags.fan_in),
        )
        if wanted
    ]
    shared = [
        f"{name}: {_shared(value)}" for name, value in schema.classes.items() if name not in own
    ]
    if shared:
        clauses.append(f"classes {{{', '.join(shared)}}}")
    if schema.dropped:
        clauses.append(f"dropped ({', '.join(map(_quoted, schema.dropped))})")
    return clauses


def _shared(value: CategoryClass) -> str:
    return f"({_members(value)})" if value.labels else str(value.dim)


def _members(value: CategoryClass) -> str:
    """The labels where they are known, else their number."""
    return ", ".join(map(_quoted, value.labels)) if value.labels else str(value.dim)


def _bound(link: Link) -> str:
    return f"{link.lower}..{'inf' if link.upper is None else link.upper}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
