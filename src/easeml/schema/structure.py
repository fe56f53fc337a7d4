"""Schemas as values."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from math import inf

from easeml.errors import InvalidInput

TYPES = ("tensor", "category", "text", "document", "timestamp")

IMAGE = "image"  # the format of a tensor that comes as a picture file

TAKERS_OF_REPEAT = {"": ("", "+", "*"), "+": ("+", "*"), "*": ("*",)}  # by the node that is taken

WILDCARDS = "?+*"  # behind the name of a variable: at most one, at least one, any number of dims

# A positive size, the name of a variable, or (in a tensor) a name with a wildcard behind it.
Dim = int | str


class SchemaError(InvalidInput):
    """The schema is not valid."""


class SchemaWarning(UserWarning):
    """Something in a schema has no meaning, such as a mistyped key."""


@dataclass(frozen=True, slots=True)
class Field:
    """One value: of a singleton, or of each instance of a non-singleton.

    ``type`` is one of ``TYPES``; ``dim`` is the shape of a tensor; ``class_name`` the class of a
    category. ``optional``: the value may be missing. ``format``: how a timestamp is written
    (strptime), empty for ISO 8601; how a number is written, by the example ``1.234,5``, empty for
    ``1234.5``; ``image`` for a tensor that comes as a picture file, of height, width and channels.
    Matching does not look at it. ``src_name`` and ``src_dim`` say what it was matched with; only
    results of matching have them.
    """

    name: str
    type: str = ""
    dim: tuple[Dim, ...] = ()
    class_name: str = ""
    optional: bool = False
    format: str = ""
    src_name: str = ""
    src_dim: tuple[Dim, ...] = ()


@dataclass(frozen=True, slots=True)
class Link:
    """How many links go from an instance to instances of the node ``target``.

    ``upper`` None: any number.
    """

    target: str
    lower: int
    upper: int | None

    @property
    def most(self) -> float:
        """The upper bound as a number, which is written ``inf`` where there is none."""
        return inf if self.upper is None else self.upper

    def allows(self, count: int) -> bool:
        """Whether an instance may have so many links of this kind."""
        return self.lower <= count <= self.most

    def holds(self, other: Link) -> bool:
        """Whether the bounds of ``other`` lie inside these."""
        return self.lower <= other.lower and other.most <= self.most


@dataclass(frozen=True, slots=True)
class Node(Field):
    """A node of a sample.

    A singleton has exactly one value, which the attributes of ``Field`` describe. A non-singleton
    has an empty ``type``, any number of instances, a value for each of its ``fields`` in each of
    them, and ``links`` between them. ``repeat``: this singleton stands for any number (``*``) or at
    least one (``+``) of like ones. ``column``: the name of the column in the user's table.
    ``missing``: what stands for a missing value there, besides the usual. ``labels``: of a tensor of
    one dimension, the label that each element tells of: 1 where a row has it, else 0. ``separator``:
    what stands between the labels of a row in the column, such as ``; ``; empty where cells are lists
    in JSON.
    ``parts``: the columns of the table that are one answer together, an element each.
    """

    repeat: str = ""
    column: str = ""
    missing: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    separator: str = ""
    parts: tuple[str, ...] = ()
    fields: tuple[Field, ...] = ()
    links: tuple[Link, ...] = ()

    @property
    def singleton(self) -> bool:
        """Whether a sample has exactly one value of it."""
        return bool(self.type)

    @property
    def values(self) -> tuple[Field, ...]:
        """The fields; a singleton is its own only one."""
        return (self,) if self.type else self.fields

    @property
    def label(self) -> str:
        """The name people know: that of the column, else that of the node."""
        return self.column or self.name


@dataclass(frozen=True, slots=True)
class CategoryClass:
    """A finite list of labels: its size (or a variable), and the labels where they are known."""

    dim: Dim
    labels: tuple[str, ...] = ()
    src_name: str = ""


@dataclass(frozen=True, slots=True)
class Constraints:
    """What the links between instances may form.

    ``cyclic``: cycles. ``undirected``: every link has its reverse. ``fan_in``: an instance may have
    more than one incoming link (in an undirected graph: more than two neighbours).
    """

    cyclic: bool = False
    undirected: bool = False
    fan_in: bool = False

    @property
    def most_incoming(self) -> float:
        """How many links may lead to one instance: in an undirected graph those of two neighbours."""
        if self.fan_in:
            return inf
        return 2 if self.undirected else 1

    def flags(self) -> dict[str, bool]:
        """The constraints by their names in both notations."""
        return {"cyclic": self.cyclic, "undirected": self.undirected, "fan-in": self.fan_in}

    def names(self) -> list[str]:
        """The names of those that are set."""
        flags = self.flags()
        return list(compress(flags, flags.values()))


@dataclass(frozen=True)
class Structure:
    """What a schema says, without the forms in which it is written: see ``Schema``.

    ``dropped`` names columns of the user's table that are no part of the schema but may come along
    with its rows. ``src_dims``: what the variables stand for; only results of matching have it.
    """

    nodes: Mapping[str, Node]
    classes: Mapping[str, CategoryClass] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    constraints: Constraints = Constraints()
    src_dims: Mapping[str, Dim] = field(default_factory=dict)

    def values(self) -> Iterator[tuple[Node, Field]]:
        """Each value with its node, in the order of the nodes; those of repeated nodes as well."""
        for node in self.nodes.values():
            for value in node.values:
                yield node, value

    def categories(self) -> Iterator[tuple[Node, Field]]:
        """Each category with its node, in the order of the nodes."""
        for node, value in self.values():
            if value.type == "category":
                yield node, value

    def non_singletons(self) -> list[Node]:
        """The nodes of which a sample may have any number of instances."""
        return [node for node in self.nodes.values() if not node.singleton]

    def links(self) -> Iterator[tuple[Node, Link]]:
        """Each link with the node that it leads from, in the order of the nodes."""
        for node in self.nodes.values():
            for link in node.links:
                yield node, link

    def sizes(self, value: Field) -> tuple[Dim, ...]:
        """The dims of a tensor; of a category how many classes there are."""
        if value.type == "category":
            return (self.classes[value.class_name].dim,)
        return value.dim

    def labels(self, node: str) -> tuple[str, ...]:
        """The labels of a category node, in the order of their indices; empty where unknown."""
        return self.classes[self.nodes[node].class_name].labels

    @cached_property
    def labels_of_rows(self) -> tuple[str, ...]:
        """The labels of an output of which a row may have several; empty of any other schema."""
        first = next(iter(self.nodes.values()))
        return first.labels

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The columns that are the answer together; empty where it is one column."""
        first = next(iter(self.nodes.values()))
        return first.parts

    @cached_property
    def columns(self) -> dict[str, Node]:
        """The nodes by the name of their column in the table (of the node, where it has none)."""
        return {node.label: node for node in self.nodes.values()}

    @cached_property
    def _hash(self) -> int:
        nodes = frozenset(self.nodes.values())
        classes = frozenset(self.classes.items())
        return hash((nodes, classes, self.dropped, self.constraints))

    def __hash__(self) -> int:
        return self._hash


def is_wildcard(dim: Dim) -> bool:
    """Whether a dim stands for a number of dims that is not given: ``a?``, ``a+``, ``a*``."""
    return isinstance(dim, str) and dim[-1] in WILDCARDS


def wildcard_place(dims: Sequence[Dim]) -> int | None:
    """The place of the first wildcard; None if there is none."""
    return next((place for place, dim in enumerate(dims) if is_wildcard(dim)), None)


def path_of(node: Node, value: Field) -> str:
    """The dotted path of a value in the JSON form: ``nodes.n1``, ``nodes.n1.fields.f1``."""
    path = f"nodes.{node.name}"
    return path if node.singleton else f"{path}.fields.{value.name}"


def node_names(columns: Iterable[str]) -> list[str]:
    """Return a valid node name for each column: lower case, ASCII, unique, in the same order."""
    taken: dict[str, None] = {}
    for column in columns:
        stem = _node_name(column)
        name = stem
        number = 1
        while name in taken:
            number += 1
            name = f"{stem}_{number}"
        taken[name] = None
    return list(taken)


def _node_name(column: str) -> str:
    """A valid name that is as near to that of a column as the rules of names allow."""
    decomposed = unicodedata.normalize("NFKD", column)
    plain = decomposed.encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^0-9a-z]+", "_", plain).strip("_") or "column"
    return f"_{name}" if name[0].isdigit() else name
