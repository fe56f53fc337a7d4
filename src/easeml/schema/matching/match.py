"""Does data of one shape fit another schema? A complete and deterministic search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import TypeVar

from easeml.schema.matching.budget import LIMIT, Budget
from easeml.schema.matching.patterns import class_prefix
from easeml.schema.matching.problem import Problem
from easeml.schema.matching.shapes import Shape, alternatives, shape_of
from easeml.schema.matching.solution import Pair, solve
from easeml.schema.structure import CategoryClass, Dim, Node, Structure

_Schema = TypeVar("_Schema", bound=Structure)
Sides = tuple[Structure, Structure]  # input and output


@dataclass(frozen=True)
class Match:
    """How a source fits a destination.

    ``nodes``: source node -> destination node. ``classes`` and ``variables``: what the
    destination's classes and variables stand for; those of repeated nodes are each copy's own and
    are left out, and so is a variable that covers no dimension. ``fields``: for each non-singleton
    of the source, source field -> destination field.
    """

    nodes: dict[str, str]
    classes: dict[str, str] = field(default_factory=dict)
    variables: dict[str, int | str] = field(default_factory=dict)
    fields: dict[str, dict[str, str]] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "nodes": self.nodes,
            "fields": self.fields,
            "classes": self.classes,
            "variables": self.variables,
        }

    def annotate(self, destination: _Schema, source: Structure) -> _Schema:
        """The destination with what it was matched with.

        Nodes, fields and classes have the names of the source (``src_name``), tensors its dims
        (``src_dim``), and the schema the values of its variables (``src_dims``). Repeated nodes,
        which may stand for several of the source, are left as they are.
        """
        taken = {place: name for name, place in self.nodes.items()}
        nodes = {}
        for name, node in destination.nodes.items():
            if node.repeat:
                nodes[name] = node
                continue
            origin = source.nodes[taken[name]]
            nodes[name] = _annotated(node, origin, self.fields.get(origin.name, {}))

        classes = {}
        for name, value in destination.classes.items():
            src_name = self.classes.get(name, "")
            classes[name] = CategoryClass(value.dim, value.labels, src_name)

        return replace(
            destination,
            nodes=nodes,
            classes=classes,
            src_dims=dict(self.variables),
        )


def match(destination: Structure, source: Structure, *, limit: int = LIMIT) -> Match | None:
    """Map every source node to a destination node so that all values fit; None if none does.

    A destination node takes exactly one source node; a repeated one any number of them. A singleton
    takes a singleton of its type and shape. A non-singleton takes a non-singleton with as many
    fields of each type, whose values it takes one by one, and as many links, each to what the
    link's target takes and within its bounds. An optional value needs an optional place. A variable
    has one value in the whole destination; a class stands for one source class, and two classes may
    stand for the same one. A variable of the source is a value of its own, and its wildcards may
    stand for any number of dims.

    ``limit``: how many steps of work are spent at most; the result does not depend on the machine.

    Raises:
        Undecided: if there is no answer within the limit.
    """
    if forbidden_flags(destination, source):
        return None

    pairs = solve(Problem([(destination, source)], Budget(limit)))
    if pairs is None:
        return None
    return _result(pairs, 0, destination, source)


def match_both(
    destination: Sides, source: Sides, *, limit: int = LIMIT
) -> tuple[Match, Match] | None:
    """Match input and output together, as ``match`` matches one of them.

    A variable that occurs on both sides of the destination has one value. Classes are each side's
    own.
    """
    inputs = (destination[0], source[0])
    outputs = (destination[1], source[1])
    if forbidden_flags(*inputs) or forbidden_flags(*outputs):
        return None

    pairs = solve(Problem([inputs, outputs], Budget(limit)))
    if pairs is None:
        return None
    return _result(pairs, 0, *inputs), _result(pairs, 1, *outputs)


def forbidden_flags(destination: Structure, source: Structure) -> list[str]:
    """What of the source's links the destination's constraints do not allow, in words.

    Empty if the destination has no non-singleton.
    """
    if not destination.non_singletons():
        return []

    wanted = destination.constraints
    given = source.constraints
    # A flag is greater on the side that alone has it.
    forbidden = {
        "its links may form cycles": given.cyclic > wanted.cyclic,
        "its links are directed": wanted.undirected > given.undirected,
        "several of its links may lead to one instance": given.fan_in > wanted.fan_in,
    }
    return list(compress(forbidden, forbidden.values()))


def _result(pairs: list[Pair], side: int, destination: Structure, source: Structure) -> Match:
    """The match of one side, in the order of the source's nodes."""
    found = Match({})
    prefix = class_prefix(side)
    pair_of = {pair.taken.name: pair for pair in pairs if pair.taken.side == side}
    for name in source.nodes:
        pair = pair_of[name]
        places = pair.taker.fields
        values = pair.taken.fields

        found.nodes[name] = pair.taker.name
        node = destination.nodes[pair.taker.name]
        if not node.singleton:
            by_place = sorted(pair.values)
            found.fields[name] = {values[j].name: places[i].name for i, j in by_place}
        if node.repeat:
            continue  # what a copy binds is its own

        for i, j in pair.values:
            wanted = shape_of(destination, places[i], prefix)
            given = shape_of(source, values[j])
            _bind(found, _first_agreeing(wanted, given, pair.decided), prefix)
    return found


def _bind(found: Match, bound: Mapping[str, Dim], prefix: str) -> None:
    """Note what the classes and variables of the destination stand for."""
    for key, value in bound.items():
        if key.startswith(prefix):
            name = key.removeprefix(prefix)
            found.classes[name] = str(value)
        else:
            found.variables[key] = value


def _first_agreeing(
    wanted: Shape, given: Shape, decided: Mapping[str, object]
) -> Mapping[str, Dim]:
    """What a value binds: the first alternative that agrees with what is decided."""
    for bound in alternatives(wanted, given):
        if all(decided.get(key, value) == value for key, value in bound.items()):
            return bound
    raise AssertionError("a solution pairs values that fit under what it decides")


def _annotated(node: Node, source: Node, fields: Mapping[str, str]) -> Node:
    """A node with the names and dims of the source's; ``fields``: source field -> field."""
    if node.singleton:
        return replace(node, src_name=source.name, src_dim=source.dim)

    taken_by = {fields[value.name]: value for value in source.fields}
    made = []
    for value in node.fields:
        taken = taken_by[value.name]
        made.append(replace(value, src_name=taken.name, src_dim=taken.dim))
    return replace(node, src_name=source.name, fields=tuple(made))
