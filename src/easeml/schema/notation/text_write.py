"""From schemas to the short text form; the grammar is in ``docs/schema.md``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

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
    text = f"{{{', '.join(parts)}}}"
    if len(text) > _WIDTH:
        lines = [f"  {part}," for part in parts]
        text = "\n".join(["{", *lines, "}"])
    return " ".join([text, *clauses])


def _is_lone(node: Node) -> bool:
    """Whether a node that is the only one can be written without its name."""
    says_more = node.repeat or node.column or node.missing
    return node.singleton and node.name == LONE and not says_more


def _own_classes(schema: Structure) -> set[str]:
    """The classes that one category alone has, by whose name they go.

    They are written where they are used.
    """
    categories = [value for _, value in schema.values() if value.type == "category"]
    uses = Counter(value.class_name for value in categories)
    names = Counter(value.name for value in categories)

    own = set()
    for value in categories:
        name = value.name
        if name == value.class_name and uses[name] == 1 and names[name] == 1:
            own.add(name)
    return own


def _node(schema: Structure, node: Node, own: set[str]) -> str:
    if node.singleton:
        return _singleton(schema, node, own)

    fields = [f"{field.name}: {_value(schema, field, own)}" for field in node.fields]
    text = f"{node.name}: [{', '.join(fields)}]"
    if node.links:
        links = [f"{link.target}: {_bound(link)}" for link in node.links]
        text += f" links {{{', '.join(links)}}}"
    return text


def _singleton(schema: Structure, node: Node, own: set[str]) -> str:
    name = node.name + node.repeat
    if node.column:
        name += f" {_quoted(node.column)}"

    text = f"{name}: {_value(schema, node, own)}"
    if node.missing:
        text += f" missing ({_quoted_list(node.missing)})"
    return text


def _value(schema: Structure, value: Field, own: set[str]) -> str:
    """The type of a value, with a question mark if the value may be missing."""
    if value.type == "tensor":
        text = _tensor(value)
    elif value.type == "category":
        text = _category(schema, value, own)
    elif value.format:
        text = f"timestamp({_quoted(value.format)})"
    else:
        text = value.type
    return f"{text}?" if value.optional else text


def _tensor(value: Field) -> str:
    dims = ", ".join(map(str, value.dim))
    if value.format == IMAGE:
        return f"{IMAGE}[{dims}]"
    if value.dim != (1,):
        return f"tensor[{dims}]"
    return f"number({_quoted(value.format)})" if value.format else "number"


def _category(schema: Structure, value: Field, own: set[str]) -> str:
    if value.class_name not in own:
        return f"category of {value.class_name}"
    return f"category({_members(schema.classes[value.class_name])})"


def _clauses(schema: Structure, own: set[str]) -> list[str]:
    clauses = []
    if schema.constraints.cyclic:
        clauses.append("cyclic")
    if schema.constraints.undirected:
        clauses.append("undirected")
    if schema.constraints.fan_in:
        clauses.append("fan-in")

    shared = []
    for name, value in schema.classes.items():
        if name not in own:
            shared.append(f"{name}: {_shared(value)}")
    if shared:
        clauses.append(f"classes {{{', '.join(shared)}}}")

    if schema.dropped:
        clauses.append(f"dropped ({_quoted_list(schema.dropped)})")
    return clauses


def _shared(value: CategoryClass) -> str:
    return f"({_members(value)})" if value.labels else str(value.dim)


def _members(value: CategoryClass) -> str:
    """The labels where they are known, else their number."""
    return _quoted_list(value.labels) if value.labels else str(value.dim)


def _bound(link: Link) -> str:
    upper = "inf" if link.upper is None else link.upper
    return f"{link.lower}..{upper}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _quoted_list(texts: Sequence[str]) -> str:
    return ", ".join(_quoted(text) for text in texts)
