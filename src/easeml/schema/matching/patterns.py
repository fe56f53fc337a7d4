"""Nodes as matching sees them: without names of their own, so that like nodes are equal and can be
counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from easeml.schema.matching.links import Graph
from easeml.schema.matching.shapes import PRIVATE, Shape, shape_of
from easeml.schema.structure import Field, Link, Node, Structure

LOCAL = "="  # starts every key that several values of one node share, and no other node


@dataclass(frozen=True, slots=True)
class Pattern:
    """What a node takes, or is. ``shapes``: of its values, in a canonical order.

    ``ends``: of its links, as ``Graph.ends`` gives them, bounds last. ``colour`` is 0 for a
    singleton.
    """

    side: int
    singleton: bool
    repeat: str
    shapes: tuple[Shape, ...]
    colour: int = 0
    ends: tuple[tuple[bool, bool, int, int, float], ...] = ()

    @property
    def kind(self) -> tuple[object, ...]:
        """What is equal for every two nodes that match."""
        return (
            self.side,
            self.singleton,
            self.colour,
            tuple(sorted(Counter(s.type for s in self.shapes).items())),
        )

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that other nodes share."""
        return tuple(
            dict.fromkeys(
                key for shape in self.shapes for key in shape.used_keys() if key[0] not in "~="
            )
        )


@dataclass(frozen=True, slots=True)
class Member:
    """A node of a group.

    ``fields`` are in the order of the pattern's shapes; ``local``: real names of local keys.
    """

    side: int
    name: str
    fields: tuple[Field, ...]
    local: Mapping[str, str]


Groups = dict[Pattern, list[Member]]


def class_prefix(side: int) -> str:
    """What stands before a destination's class in its key: the key is no variable's, and each side
    has its own.
    """
    return f"{side} "


def destination_groups(
    schemas: Sequence[Structure], graphs: Sequence[Graph | None], loose: Collection[str] = ()
) -> Groups:
    """The nodes of destinations by pattern. Keys in ``loose`` need not agree."""
    shaped = _shaped_nodes(schemas)
    values_of, nodes_of = _users_of_keys(shaped)
    groups: Groups = {}
    for side, node, shapes in shaped:
        shared: set[str] = set()
        if not node.repeat:  # the keys of a repeated node are each copy's own
            used = {key for shape in shapes for key in shape.used_keys()}
            shared = {key for key in used if values_of[key] > 1 and key not in loose}
        local = {key for key in shared if nodes_of[key] == 1}
        public = [_private(shape, shared) for shape in shapes]
        _add(groups, side, node, public, graphs[side], local)
    return groups


def _shaped_nodes(schemas: Sequence[Structure]) -> list[tuple[int, Node, list[Shape]]]:
    found = []
    for side, schema in enumerate(schemas):
        prefix = class_prefix(side)
        for node in schema.nodes.values():
            found.append((side, node, [shape_of(schema, value, prefix) for value in node.values]))
    return found


def _users_of_keys(
    shaped: list[tuple[int, Node, list[Shape]]],
) -> tuple[Counter[str], Counter[str]]:
    """How many values, and how many nodes, use each key; without repeated nodes."""
    values_of: Counter[str] = Counter()
    nodes_of: Counter[str] = Counter()
    for _, node, shapes in shaped:
        if node.repeat:
            continue
        keys_of_node: set[str] = set()
        for shape in shapes:
            keys = set(shape.used_keys())
            values_of.update(keys)
            keys_of_node |= keys
        nodes_of.update(keys_of_node)
    return values_of, nodes_of


def source_groups(schemas: Sequence[Structure], graphs: Sequence[Graph | None]) -> Groups:
    """The nodes of sources by pattern.

    A class that one value alone has is known by its size only.
    """
    groups: Groups = {}
    for side, schema in enumerate(schemas):
        uses = Counter(value.class_name for node in schema.nodes.values() for value in node.values)
        for node in schema.nodes.values():
            shapes = [shape_of(schema, value) for value in node.values]
            named = [
                shape
                if not shape.klass or uses[shape.klass] > 1
                else shape.renamed({shape.klass: PRIVATE})
                for shape in shapes
            ]
            _add(groups, side, node, named, graphs[side], ())
    return groups


def _private(shape: Shape, shared: Collection[str]) -> Shape:
    """The shape with keys that no other value uses renamed in the order in which they occur."""
    own = [key for key in dict.fromkeys(shape.used_keys()) if key not in shared]
    return shape.renamed({key: f"{PRIVATE}{i}" for i, key in enumerate(own)}) if own else shape


def _add(
    groups: Groups,
    side: int,
    node: Node,
    shapes: list[Shape],
    graph: Graph | None,
    local: Collection[str],
) -> None:
    fields = node.values
    names: dict[str, str] = {}
    if len(fields) > 1:
        blank = dict.fromkeys(local, LOCAL)
        order = sorted(
            range(len(shapes)),
            key=lambda i: _sort_key(shapes[i].renamed(blank) if blank else shapes[i]),
        )
        shapes, fields = [shapes[i] for i in order], tuple(fields[i] for i in order)
        if local:
            for key in dict.fromkeys(
                key for shape in shapes for key in shape.used_keys() if key in local
            ):
                names[key] = f"{LOCAL}{len(names)}"
            shapes = [shape.renamed(names) for shape in shapes]
    colour = 0
    ends: tuple[tuple[bool, bool, int, int, float], ...] = ()
    if graph is not None and not node.singleton:
        colour = graph.colour[node.name]
        ends = tuple(
            sorted((out, back, c, e.lower, _upper(e)) for out, back, c, e in graph.ends(node.name))
        )
    pattern = Pattern(side, node.singleton, node.repeat, tuple(shapes), colour, ends)
    member = Member(side, node.name, fields, {anonymous: real for real, anonymous in names.items()})
    groups.setdefault(pattern, []).append(member)


def _upper(link: Link) -> float:
    return inf if link.upper is None else link.upper


def _sort_key(shape: Shape) -> tuple[str, bool, str, str]:
    return shape.type, shape.optional, repr(shape.dims), shape.klass
