"""Parts of schemas in words, for the reasons of ``explain``."""

from __future__ import annotations

from collections.abc import Sequence

from easeml.schema.structure import Dim, Field, Link, Node, Structure

SHOWN = 4  # names in a list; the rest is counted

_WORDS = {
    "text": "text",
    "document": "a document",
    "timestamp": "a timestamp",
}


def described(schema: Structure, value: Field) -> str:
    """What a node or field is: ``a category of 3 classes``."""
    if isinstance(value, Node) and not value.singleton:
        fields = [described(schema, field) for field in value.fields]
        return f"any number of instances of ({', '.join(fields)})"

    if value.type == "tensor":
        return _tensor(value.dim)

    if value.type == "category":
        return _category(schema.classes[value.class_name].dim)
    return _WORDS[value.type]


def _category(size: Dim) -> str:
    """What a category is; that its size is a variable says nothing."""
    return f"a category of {size} classes" if isinstance(size, int) else "a category"


def _tensor(dim: Sequence[int | str]) -> str:
    """What a tensor is: ``an array of 3 x n numbers``; sizes that say nothing are only counted."""
    if dim == (1,):
        return "a number"

    letters = [size for size in dim if isinstance(size, str)]
    is_of_any_size = len(letters) == len(dim) == len(set(letters))
    if not is_of_any_size:
        return f"an array of {' x '.join(map(str, dim))} numbers"
    if len(dim) == 1:
        return "a list of numbers"
    return f"an array of numbers with {len(dim)} dimensions"


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


def listed(items: Sequence[str]) -> str:
    """The first items, and how many more there are."""
    shown = ", ".join(items[:SHOWN])
    more = len(items[SHOWN:])
    return f"{shown} and {more} more" if more else shown
