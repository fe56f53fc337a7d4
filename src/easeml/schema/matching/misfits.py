"""Reasons against a match that show when each node is looked at for itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress

from easeml.schema.matching.budget import Budget
from easeml.schema.matching.conflict import shared_keys
from easeml.schema.matching.cover import covers, slots_of_items
from easeml.schema.matching.patterns import Member, Pattern
from easeml.schema.matching.problem import Problem
from easeml.schema.matching.wording import described, described_links, described_once, listed
from easeml.schema.structure import TAKERS_OF_REPEAT, Link, Node, Structure

_REPEATED = {"*": "any number of times", "+": "once or more"}


class Misfits:
    """A destination and a source without keys that several values share, and without links."""

    def __init__(self, destination: Structure, source: Structure, budget: Budget):
        self.destination = destination
        self.source = source
        self.problem = Problem(
            [(destination, source)],
            budget,
            loose=shared_keys(destination),
            linked=False,
        )
        self.slots = self.problem.slots
        self.items = self.problem.items
        self.assignment = self.problem.assignment
        self.slots_of = slots_of_items(self.problem.fitting, len(self.items))

    def reason(self) -> str:
        """The most obvious reason; empty if each node for itself has a place."""
        # Looking for the next one costs more each time.
        return self._misfit() or self._miscount() or self._wide_links()

    def _places(self, slot: Pattern) -> list[Node]:
        """The destination's nodes of a slot group."""
        return _nodes_of(self.destination, self.problem.wanted[slot])

    def _nodes(self, item: Pattern) -> list[Node]:
        """The source's nodes of an item group."""
        return _nodes_of(self.source, self.problem.given[item])

    def _misfit(self) -> str:
        """A node that nothing takes, or a place that nothing fills."""
        unfit = set(range(len(self.items))).difference(*self.problem.fitting)
        if unfit:
            first = self.items[min(unfit)]
            return self._why_unfit(self._nodes(first)[0])

        for slot, fits in zip(self.slots, self.problem.fitting, strict=True):
            if not fits and slot.repeat != "*":
                needed = described(self.destination, self._places(slot)[0])
                return f"It needs {needed}, and there is none."

        return ""

    def _why_unfit(self, node: Node) -> str:
        """Why no destination node takes ``node``: the nearest miss."""
        what = described(self.source, node)
        places = list(self.destination.nodes.values())
        alike = [each for each in places if each.type == node.type]
        if not alike:
            taken = described_once(self.destination, places)
            return f"'{node.label}' is {what}, and it takes only: {taken}."

        repeats = {each.repeat for each in alike}
        if repeats.isdisjoint(TAKERS_OF_REPEAT[node.repeat]):
            many = _REPEATED[node.repeat]
            return f"'{node.label}' is {what}, {many}, and it takes a fixed number."

        missing_is_taken = any(each.optional for each in alike)
        if node.optional > missing_is_taken:
            return f"'{node.label}' has missing values, and it takes none in {what}."

        taken = described_once(self.destination, alike)
        return f"'{node.label}' is {what}, and it takes: {taken}."

    def _miscount(self) -> str:
        """More or fewer nodes than places, in all or of a kind."""
        wanted = len(self.destination.nodes)
        found = len(self.source.nodes)
        repeated = any(node.repeat for node in self.destination.nodes.values())
        if wanted != found and not repeated:
            values = "value" if wanted == 1 else "values"
            return f"It takes exactly {wanted} {values}, and there are {found}."

        if self.assignment.is_covered():
            return ""
        return (
            self._crowded()
            or self._empty_places()
            or "There are more or fewer values of a type than it takes."
        )

    def _crowded(self) -> str:
        """Nodes with fewer places than there are of them."""
        homeless = compress(range(len(self.items)), self.assignment.homeless)
        choices = {j: frozenset(self.slots_of[j]) for j in homeless}
        crowd = _crowd(choices, self.assignment.given, self.assignment.wanted)
        if crowd is None:
            return ""

        nodes = list(chain.from_iterable(self._nodes(self.items[j]) for j in crowd.groups))
        what = described(self.source, nodes[0])
        names = listed([f"'{node.label}'" for node in nodes])
        return f"It has room for {crowd.room} such as {what}, and there are {crowd.size}: {names}."

    def _empty_places(self) -> str:
        """Places with fewer nodes that could fill them than there are of them."""
        wanted = compress(range(len(self.slots)), self.assignment.wanted)
        choices = {i: frozenset(self.problem.fitting[i]) for i in wanted}
        crowd = _crowd(choices, self.assignment.wanted, self.assignment.given)
        if crowd is None:
            return ""
        first = self._places(self.slots[crowd.groups[0]])[0]
        what = described(self.destination, first)
        return f"It needs {crowd.size} such as {what}, and there are {crowd.room}."

    def _wide_links(self) -> str:
        """A node with links of its own that none of the nodes that take its fields has room for."""
        for item, slots in zip(self.items, self.slots_of, strict=True):
            takers = list(chain.from_iterable(self._places(self.slots[i]) for i in slots))
            for node in self._nodes(item):
                if not any(_bounds_fit(taker, node) for taker in takers):
                    return _too_wide(node, takers)
        return ""


def _nodes_of(schema: Structure, members: Sequence[Member]) -> list[Node]:
    return [schema.nodes[member.name] for member in members]


def _too_wide(node: Node, takers: Sequence[Node]) -> str:
    """That a node's links find no room in those of the nodes that take its fields."""
    has = described_links(node.links)
    taken = dict.fromkeys(described_links(taker.links) for taker in takers)
    return f"'{node.name}' has {has}, and it takes: {listed(list(taken))}."


def _bounds_fit(taker: Node, node: Node) -> bool:
    """Whether the links of one node, wherever they lead, find room in those of the other."""
    return covers(taker.links, node.links, Link.holds)


@dataclass(frozen=True, slots=True)
class _Crowd:
    """Groups that have more members in all (``size``) than there is room for."""

    groups: list[int]
    size: int
    room: int


def _crowd(
    choices: Mapping[int, frozenset[int]], members: Sequence[int], rooms: Sequence[int]
) -> _Crowd | None:
    """The first groups that want more than all that they may choose has (Hall's condition).

    ``choices``: by group, what it may choose. ``members``: of each group. ``rooms``: by choice.
    """
    for chosen in dict.fromkeys(choices.values()):
        # All groups that have no choice but these.
        groups = [group for group, own in choices.items() if own <= chosen]
        size = sum(map(members.__getitem__, groups))
        room = sum(map(rooms.__getitem__, chosen))
        if size > room:
            return _Crowd(groups, size, room)
    return None
