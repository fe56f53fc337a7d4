"""Parts of schemas in words, for the reasons of ``explain``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from easeml.schema.structure import Field, Link, Node, Structure

SHOWN = 4  # names in a list; the rest is counted


def described(schema: Structure, value: Field) -> str:
    """What a node or field is: ``a category of 3 classes``."""
    if isinstance(value, Node) and not value.singleton:
        fields = [described(schema, field) for field in value.fields]
        return f"any number of instances of ({', '.join(fields)})"
    describe = _OF_TYPE[value.type]
    return describe(schema, value)


def _category(schema: Structure, value: Field) -> str:
    """What a category is; that its size is a variable says nothing."""
    size = schema.classes[value.class_name].dim
    if isinstance(size, int):
        return f"a category of {size} classes"
    return "a category"


def _tensor(_: Structure, value: Field) -> str:
    """What a tensor is: ``an array of 3 x n numbers``; sizes that say nothing are only counted."""
    dim = value.dim
    if dim == (1,):
        return "a number"

    letters = [size for size in dim if isinstance(size, str)]
    is_of_any_size = len(letters) == len(dim) == len(set(letters))
    if not is_of_any_size:
        return f"an array of {' x '.join(map(str, dim))} numbers"
    if len(dim) == 1:
        return "a list of numbers"
    return f"an array of numbers with {len(dim)} dimensions"


_OF_TYPE: dict[str, Callable[[Structure, Field], str]] = {
    "tensor": _tensor,
    "category": _category,
    "text": lambda *_: "text",
    "document": lambda *_: "a document",
    "timestamp": lambda *_: "a timestamp",
}


def described_once(schema: Structure, nodes: Sequence[Node]) -> str:
    """What several nodes are, each kind once."""
    return ", ".join(dict.fromkeys(described(schema, node) for node in nodes))


def described_links(links: Sequence[Link]) -> str:
    """The links of a node with their bounds: ``links to a 0..1, b 2..inf``."""
    if not links:
        return "no links"
    bounds = [f"{link.target} {link.lower}..{link.most}" for link in links]
    return f"links to {listed(bounds)}"


def place(node: Node, value: Field) -> str:
    """The name of a value, with that of its node where that has several."""
    if node.singleton:
        return f"'{node.name}'"
    return f"'{node.name}.{value.name}'"


def listed(items: Sequence[str], further: str = "more") -> str:
    """The first items, and how many there are ``further``."""
    shown = ", ".join(items[:SHOWN])
    left = len(items[SHOWN:])
    return f"{shown} and {left} {further}" if left else shown
