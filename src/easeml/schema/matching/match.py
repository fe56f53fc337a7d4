"""Does data of one shape fit another schema? A complete and deterministic search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from easeml.schema.matching.budget import LIMIT, Budget
from easeml.schema.matching.patterns import class_prefix
from easeml.schema.matching.problem import Problem, Solution
from easeml.schema.matching.shapes import alternatives, shape_of
from easeml.schema.structure import CategoryClass, Dim, Field, Node, Structure

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
        """The destination with the names of the source on its nodes, fields and classes
        (``src_name``), the source's dims on its tensors (``src_dim``) and the values of its
        variables (``src_dims``). Repeated nodes, which may stand for several of the source, are
        left as they are."""
        taken = {place: name for name, place in self.nodes.items()}
        nodes = {
            name: node
            if node.repeat
            else _annotated(node, source.nodes[taken[name]], self.fields.get(taken[name], {}))
            for name, node in destination.nodes.items()
        }
        classes = {
            name: CategoryClass(value.dim, value.labels, self.classes.get(name, ""))
            for name, value in destination.classes.items()
        }
        return replace(destination, nodes=nodes, classes=classes, src_dims=dict(self.variables))


def match(destination: Structure, source: Structure, *, limit: int = LIMIT) -> Match | None:
    """Map every source node to a destination node so that all values fit, or return None if there
    is no such map.

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
    if _flags_forbid(destination, source):
        return None
    solution = Problem([(destination, source)], Budget(limit)).solution()
    return None if solution is None else _result(solution, 0, destination, source)


def match_both(
    destination: Sides, source: Sides, *, limit: int = LIMIT
) -> tuple[Match, Match] | None:
    """Match input and output together: a variable that occurs on both sides of the destination has
    one value.

    Classes are each side's own. As ``match`` otherwise.
    """
    sides = list(zip(destination, source, strict=True))
    if any(_flags_forbid(*side) for side in sides):
        return None
    solution = Problem(sides, Budget(limit)).solution()
    if solution is None:
        return None
    first, second = (_result(solution, number, *side) for number, side in enumerate(sides))
    return first, second


def forbidden_flags(destination: Structure, source: Structure) -> list[str]:
    """What of the source's links the destination's constraints do not allow; empty if it has no
    non-singleton.
    """
    if all(node.singleton for node in destination.nodes.values()):
        return []
    wanted, given = destination.constraints, source.constraints
    found = []
    if given.cyclic and not wanted.cyclic:
        found.append("its links may form cycles")
    if wanted.undirected and not given.undirected:
        found.append("its links are directed")
    if given.fan_in and not wanted.fan_in:
        found.append("several of its links may lead to one instance")
    return found


def _flags_forbid(destination: Structure, source: Structure) -> bool:
    return bool(forbidden_flags(destination, source))


def _result(solution: Solution, side: int, destination: Structure, source: Structure) -> Match:
    """The match of one side, in the order of the source's nodes."""
    found = Match({})
    prefix = class_prefix(side)
    order = {name: place for place, name in enumerate(source.nodes)}
    triples = sorted(
        (
            t
            for t in zip(solution.pairs, solution.fields, solution.decided, strict=True)
            if t[0][0].side == side
        ),
        key=lambda triple: order[triple[0][1].name],
    )
    for (slot, item), places, decided in triples:
        found.nodes[item.name] = slot.name
        node = destination.nodes[slot.name]
        if not node.singleton:
            found.fields[item.name] = {
                item.fields[j].name: slot.fields[i].name for i, j in sorted(places)
            }
        for i, j in () if node.repeat else places:
            _bind(
                found,
                _bound(destination, slot.fields[i], source, item.fields[j], decided, prefix),
                prefix,
            )
    return found


def _bind(found: Match, bound: Mapping[str, Dim], prefix: str) -> None:
    for key, value in bound.items():
        if key.startswith(prefix):
            found.classes[key.removeprefix(prefix)] = str(value)
        else:
            found.variables[key] = value


def _bound(
    destination: Structure,
    wanted: Field,
    source: Structure,
    given: Field,
    decided: Mapping[str, object],
    prefix: str,
) -> Mapping[str, Dim]:
    """What this value binds: the first alternative that agrees with what is decided."""
    found = alternatives(shape_of(destination, wanted, prefix), shape_of(source, given))
    return next(
        bound
        for bound in found
        if all(decided.get(key, value) == value for key, value in bound.items())
    )


def _annotated(node: Node, source: Node, fields: Mapping[str, str]) -> Node:
    if node.singleton:
        return replace(node, src_name=source.name, src_dim=source.dim)
    origin = {place: name for name, place in fields.items()}
    given = {value.name: value for value in source.fields}
    made = tuple(
        replace(value, src_name=origin[value.name], src_dim=given[origin[value.name]].dim)
        for value in node.fields
    )
    return replace(node, src_name=source.name, fields=made)
