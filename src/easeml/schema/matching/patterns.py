"""Nodes as matching sees them: without names of their own, so that like nodes can be counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from easeml.schema.matching.links import End, Graph
from easeml.schema.matching.shapes import PRIVATE, Shape, shape_of
from easeml.schema.structure import Field, Node, Structure

LOCAL = "="  # starts every key that several values of one node share, and no other node


@dataclass(frozen=True, slots=True)
class Pattern:
    """What a node takes, or is. ``shapes``: of its values, in a canonical order.

    ``ends``: of its links, sorted. ``colour`` is 0 where no links are looked at.
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
        used = dict.fromkeys(_uses_of_keys(self.shapes))
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
    schemas: Sequence[Structure], graphs: Sequence[Graph], loose: Collection[str] = ()
) -> Groups:
    """The nodes of destinations by pattern. Keys in ``loose`` need not agree."""
    shaped = list(_shaped_nodes(schemas))
    uses = [list(_uses_of_keys(shapes)) for _, _, shapes in shaped]
    values_of = Counter(chain.from_iterable(uses))  # by key: how many values use it
    nodes_of = Counter(chain.from_iterable(map(set, uses)))  # and how many nodes

    groups: Groups = {}
    for (side, node, shapes), used in zip(shaped, uses, strict=True):
        shared = {key for key in used if values_of[key] > 1}.difference(loose)
        local = {key for key in shared if nodes_of[key] == 1}
        public = [_private(shape, shared) for shape in shapes]
        _add(groups, side, node, public, graphs[side], local)

    return groups


def _uses_of_keys(shapes: Iterable[Shape]) -> Iterator[str]:
    """The keys of the shapes, in the order in which they occur, one time for each shape."""
    return chain.from_iterable(map(Shape.used_keys, shapes))


def _shaped_nodes(schemas: Sequence[Structure]) -> Iterator[tuple[int, Node, list[Shape]]]:
    """The nodes with their sides and the shapes of their values."""
    for side, schema in enumerate(schemas):
        prefix = class_prefix(side)
        for node in schema.nodes.values():
            shapes = [shape_of(schema, value, prefix) for value in node.values]
            if node.repeat:
                # What its keys are bound to is each copy's own.
                shapes = [_private(shape, ()) for shape in shapes]
            yield side, node, shapes


def source_groups(schemas: Sequence[Structure], graphs: Sequence[Graph]) -> Groups:
    """The nodes of sources by pattern."""
    groups: Groups = {}
    for side, schema in enumerate(schemas):
        uses = Counter(value.class_name for _, value in schema.categories())
        for node in schema.nodes.values():
            shapes = [_source_shape(schema, value, uses) for value in node.values]
            _add(groups, side, node, shapes, graphs[side], ())
    return groups


def _source_shape(schema: Structure, value: Field, uses: Mapping[str, int]) -> Shape:
    """The shape of a value; a class that it alone has is known by its size only."""
    shape = shape_of(schema, value)
    if uses[shape.klass] == 1:
        return shape.renamed({shape.klass: PRIVATE})
    return shape


def _private(shape: Shape, shared: Collection[str]) -> Shape:
    """The shape with keys that no other value uses renamed in the order in which they occur."""
    own = [key for key in shape.used_keys() if key not in shared]
    if not own:
        return shape
    return shape.renamed(_numbered(PRIVATE, own))


def _add(
    groups: Groups,
    side: int,
    node: Node,
    shapes: Sequence[Shape],
    graph: Graph,
    local: Collection[str],
) -> None:
    """Put a node into the group of its pattern."""
    fields = node.values
    local_names: dict[str, str] = {}
    if len(fields) > 1:
        shapes, fields = _in_canonical_order(shapes, fields, local)
        local_names = _local_names(shapes, local)
        shapes = [shape.renamed(local_names) for shape in shapes]

    colour, ends = _surroundings(graph, node.name)
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


def _in_canonical_order(
    shapes: Sequence[Shape], fields: Sequence[Field], local: Collection[str]
) -> tuple[tuple[Shape, ...], tuple[Field, ...]]:
    """Shapes and their fields in an order that does not depend on the names of local keys."""
    blank = dict.fromkeys(local, LOCAL)

    def sort_key(pair: tuple[Shape, Field]) -> tuple[str, bool, str, str]:
        shape = pair[0].renamed(blank)
        return shape.type, shape.optional, repr(shape.dims), shape.klass

    ordered = sorted(zip(shapes, fields, strict=True), key=sort_key)
    shapes, fields = zip(*ordered, strict=True)
    return shapes, fields


def _local_names(shapes: Sequence[Shape], local: Collection[str]) -> dict[str, str]:
    """Names for the local keys in the order in which they occur."""
    used = dict.fromkeys(_uses_of_keys(shapes))
    return _numbered(LOCAL, filter(local.__contains__, used))


def _numbered(prefix: str, keys: Iterable[str]) -> dict[str, str]:
    """Names that tell of keys only in which order they come."""
    return {key: f"{prefix}{number}" for number, key in enumerate(keys)}


def _surroundings(graph: Graph, name: str) -> tuple[int, tuple[End, ...]]:
    """The colour of a node, and the ends of its links."""
    if name not in graph.colour:
        return 0, ()
    return graph.colour[name], tuple(sorted(graph.ends(name)))
