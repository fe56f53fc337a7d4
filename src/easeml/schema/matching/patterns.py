"""Nodes as matching sees them: without names of their own, so that like nodes can be counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from easeml.schema.matching.links import Graph
from easeml.schema.matching.shapes import PRIVATE, Shape, shape_of
from easeml.schema.structure import Field, Link, Node, Structure

LOCAL = "="  # starts every key that several values of one node share, and no other node

# The end of a link: out, back to the node, the other's colour, lower and upper bound.
End = tuple[bool, bool, int, int, float]


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
    ends: tuple[End, ...] = ()

    @property
    def kind(self) -> tuple[object, ...]:
        """What is equal for every two nodes that match."""
        types = Counter(shape.type for shape in self.shapes)
        counted_types = tuple(sorted(types.items()))
        return self.side, self.singleton, self.colour, counted_types

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that other nodes share."""
        used = _keys_of(self.shapes)
        return tuple(key for key in used if not key.startswith((PRIVATE, LOCAL)))


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
    """What stands before the name of a destination's class in its key.

    The key is no variable's, and each side has its own.
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
            used = _keys_of(shapes)
            shared = {key for key in used if values_of[key] > 1 and key not in loose}

        local = {key for key in shared if nodes_of[key] == 1}
        public = [_private(shape, shared) for shape in shapes]
        _add(groups, side, node, public, graphs[side], local)

    return groups


def _keys_of(shapes: Sequence[Shape]) -> dict[str, None]:
    """The keys that the shapes use, in the order in which they occur."""
    found: dict[str, None] = {}
    for shape in shapes:
        found.update(dict.fromkeys(shape.used_keys()))
    return found


def _shaped_nodes(schemas: Sequence[Structure]) -> list[tuple[int, Node, list[Shape]]]:
    """The nodes with their sides and the shapes of their values."""
    found = []
    for side, schema in enumerate(schemas):
        prefix = class_prefix(side)
        for node in schema.nodes.values():
            shapes = [shape_of(schema, value, prefix) for value in node.values]
            found.append((side, node, shapes))
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
        for shape in shapes:
            values_of.update(set(shape.used_keys()))
        nodes_of.update(_keys_of(shapes).keys())
    return values_of, nodes_of


def source_groups(schemas: Sequence[Structure], graphs: Sequence[Graph | None]) -> Groups:
    """The nodes of sources by pattern."""
    groups: Groups = {}
    for side, schema in enumerate(schemas):
        uses = Counter(value.class_name for _, value in schema.values())
        for node in schema.nodes.values():
            shapes = [_source_shape(schema, value, uses) for value in node.values]
            _add(groups, side, node, shapes, graphs[side], ())
    return groups


def _source_shape(schema: Structure, value: Field, uses: Mapping[str, int]) -> Shape:
    """The shape of a value; a class that it alone has is known by its size only."""
    shape = shape_of(schema, value)
    shared_class = not shape.klass or uses[shape.klass] > 1
    if shared_class:
        return shape
    return shape.renamed({shape.klass: PRIVATE})


def _private(shape: Shape, shared: Collection[str]) -> Shape:
    """The shape with keys that no other value uses renamed in the order in which they occur."""
    own = [key for key in dict.fromkeys(shape.used_keys()) if key not in shared]
    if not own:
        return shape
    names = {key: f"{PRIVATE}{number}" for number, key in enumerate(own)}
    return shape.renamed(names)


def _add(
    groups: Groups,
    side: int,
    node: Node,
    shapes: list[Shape],
    graph: Graph | None,
    local: Collection[str],
) -> None:
    """Put a node into the group of its pattern."""
    fields = node.values
    local_names: dict[str, str] = {}
    if len(fields) > 1:
        order = _canonical_order(shapes, local)
        shapes = [shapes[place] for place in order]
        fields = tuple(fields[place] for place in order)
        local_names = _local_names(shapes, local)
        shapes = [shape.renamed(local_names) for shape in shapes]

    colour = 0
    ends: tuple[End, ...] = ()
    if graph is not None and not node.singleton:
        colour = graph.colour[node.name]
        ends = _ends(graph, node.name)

    pattern = Pattern(
        side=side,
        singleton=node.singleton,
        repeat=node.repeat,
        shapes=tuple(shapes),
        colour=colour,
        ends=ends,
    )
    member = Member(
        side=side,
        name=node.name,
        fields=fields,
        local={anonymous: real for real, anonymous in local_names.items()},
    )
    groups.setdefault(pattern, []).append(member)


def _canonical_order(shapes: Sequence[Shape], local: Collection[str]) -> list[int]:
    """The places of the shapes in an order that does not depend on the names of local keys."""
    blank = dict.fromkeys(local, LOCAL)
    sort_keys = [_sort_key(shape.renamed(blank)) for shape in shapes]
    return sorted(range(len(shapes)), key=lambda place: sort_keys[place])


def _local_names(shapes: Sequence[Shape], local: Collection[str]) -> dict[str, str]:
    """Names for the local keys in the order in which they occur."""
    used = [key for key in _keys_of(shapes) if key in local]
    return {key: f"{LOCAL}{number}" for number, key in enumerate(used)}


def _ends(graph: Graph, name: str) -> tuple[End, ...]:
    ends: list[End] = []
    for out, back, colour, link in graph.ends(name):
        ends.append((out, back, colour, link.lower, _upper(link)))
    return tuple(sorted(ends))


def _upper(link: Link) -> float:
    return inf if link.upper is None else link.upper


def _sort_key(shape: Shape) -> tuple[str, bool, str, str]:
    return shape.type, shape.optional, repr(shape.dims), shape.klass
