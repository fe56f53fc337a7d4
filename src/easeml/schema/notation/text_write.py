"""From schemas to the short text form; the grammar is in ``docs/schema.md``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from itertools import chain, filterfalse

from easeml.schema.structure import IMAGE, CategoryClass, Field, Node, Structure

LONE = "value"  # the name of a node that is written without one
_WIDTH = 100


def write_text(schema: Structure) -> str:
    """See ``Schema.to_text``. One line where it is short, else a line for each node."""
    return _Writer(schema).text()


class _Writer:
    """Writes one schema."""

    def __init__(self, schema: Structure):
        self.schema = schema
        self.own = _own_classes(schema)

    def text(self) -> str:
        clauses = self._clauses()
        nodes = list(self.schema.nodes.values())
        if len(nodes) == 1 and not clauses and _is_lone(nodes[0]):
            return self._value(nodes[0])

        parts = list(map(self._node, nodes))
        text = f"{{{', '.join(parts)}}}"
        if len(text) > _WIDTH:
            lines = [f"  {part}," for part in parts]
            text = "\n".join(["{", *lines, "}"])
        return " ".join([text, *clauses])

    def _node(self, node: Node) -> str:
        if node.singleton:
            return self._singleton(node)

        fields = [f"{field.name}: {self._value(field)}" for field in node.fields]
        text = f"{node.name}: [{', '.join(fields)}]"
        if node.links:
            links = [f"{link.target}: {link.lower}..{link.most}" for link in node.links]
            text += f" links {{{', '.join(links)}}}"
        return text

    def _singleton(self, node: Node) -> str:
        name = node.name + node.repeat
        if node.column:
            name += f" {_quoted(node.column)}"

        text = f"{name}: {self._value(node)}"
        if node.missing:
            text += f" missing ({_quoted_list(node.missing)})"
        return text

    def _value(self, value: Field) -> str:
        """The type of a value, with a question mark if the value may be missing."""
        if value.type == "tensor":
            text = _tensor(value)
        elif value.type == "category":
            text = self._category(value.class_name)
        else:
            text = value.type + _form(value)
        return f"{text}?" if value.optional else text

    def _category(self, name: str) -> str:
        if name not in self.own:
            return f"category of {name}"
        return f"category({_members(self.schema.classes[name])})"

    def _clauses(self) -> list[str]:
        clauses = self.schema.constraints.names()
        shared = []
        for name in filterfalse(self.own.__contains__, self.schema.classes):
            shared.append(f"{name}: {_shared(self.schema.classes[name])}")
        if shared:
            clauses.append(f"classes {{{', '.join(shared)}}}")

        if self.schema.dropped:
            clauses.append(f"dropped ({_quoted_list(self.schema.dropped)})")
        return clauses


def _is_lone(node: Node) -> bool:
    """Whether a node that is the only one can be written without its name."""
    says_more = node.repeat or node.column or node.missing
    return node.singleton and node.name == LONE and not says_more


def _own_classes(schema: Structure) -> set[str]:
    """The classes that one category alone has, by whose name they go.

    They are written where they are used.
    """
    categories = [value for _, value in schema.categories()]
    # A category counts once where its name and its class are the same.
    uses = Counter(chain.from_iterable({value.name, value.class_name} for value in categories))
    of_their_name = {value.name for value in categories if value.name == value.class_name}
    return {name for name in of_their_name if uses[name] == 1}


def _tensor(value: Field) -> str:
    dims = ", ".join(map(str, value.dim))
    if value.format == IMAGE:
        return f"{IMAGE}[{dims}]"
    if value.dim == (1,):
        return f"number{_form(value)}"
    return f"tensor[{dims}]"


def _form(value: Field) -> str:
    """How a number or a timestamp is written, where that is said."""
    return f"({_quoted(value.format)})" if value.format else ""


def _shared(value: CategoryClass) -> str:
    return f"({_members(value)})" if value.labels else str(value.dim)


def _members(value: CategoryClass) -> str:
    """The labels where they are known, else their number."""
    return _quoted_list(value.labels) or str(value.dim)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _quoted_list(texts: Sequence[str]) -> str:
    return ", ".join(map(_quoted, texts))
