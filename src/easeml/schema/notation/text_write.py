"""From schemas to the short text form; the grammar is in ``docs/schema.md``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence

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

        parts = [self._node(node) for node in nodes]
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
        clauses = [word for word, is_set in self.schema.constraints.flags().items() if is_set]
        shared = self.schema.classes.keys() - self.own
        if shared:
            classes = [
                f"{name}: {_shared(value)}"
                for name, value in self.schema.classes.items()
                if name in shared
            ]
            clauses.append(f"classes {{{', '.join(classes)}}}")

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
    used_once = _occurring_once(value.class_name for value in categories)
    named_once = _occurring_once(value.name for value in categories)
    of_their_name = {value.name for value in categories if value.name == value.class_name}
    return used_once & named_once & of_their_name


def _occurring_once(names: Iterable[str]) -> set[str]:
    return {name for name, count in Counter(names).items() if count == 1}


def _tensor(value: Field) -> str:
    if value.dim == (1,) and value.format != IMAGE:
        return f"number{_form(value)}"
    dims = ", ".join(map(str, value.dim))
    word = IMAGE if value.format == IMAGE else "tensor"
    return f"{word}[{dims}]"


def _form(value: Field) -> str:
    """How a number or a timestamp is written, where that is said."""
    return f"({_quoted(value.format)})" if value.format else ""


def _shared(value: CategoryClass) -> str:
    members = _members(value)
    return f"({members})" if value.labels else members


def _members(value: CategoryClass) -> str:
    """The labels where they are known, else their number."""
    return _quoted_list(value.labels) if value.labels else str(value.dim)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _quoted_list(texts: Sequence[str]) -> str:
    return ", ".join(map(_quoted, texts))
