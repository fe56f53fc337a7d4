"""Random links between instances, within the bounds and constraints of a schema.

First a small pattern for each kind of link, so that it occurs, then more at random. An instance
gets the least number of links of a kind at once, or none, so that bounds hold after each step.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import product
from typing import TYPE_CHECKING, TypeVar

from easeml.schema.samples.links_of_samples import closes
from easeml.schema.samples.sample import Instance, SampleLinks
from easeml.schema.schema import Schema
from easeml.schema.structure import Constraints, SchemaError

if TYPE_CHECKING:
    import numpy as np

_TRIES = 30
_EXTRA = 3  # links of a kind beyond the least, where there is no upper bound

_Thing = TypeVar("_Thing")
_Links = set[tuple[Instance, Instance]]
_Kind = tuple[str, str]  # the nodes that a link leads from and to


class _Drawn:
    """Links, and how many of them begin and end where."""

    def __init__(self, links: SampleLinks):
        self.links = links
        self.outgoing = Counter(
            (start, end[0]) for start, end in links
        )  # by node that they lead to
        self.incoming = Counter(end for _, end in links)

    def plus(self, added: _Links) -> _Drawn:
        return _Drawn(self.links | added)

    def kinds(self) -> set[_Kind]:
        return {(start[0], target) for start, target in self.outgoing}


class Linker:
    """Makes the links of one sample."""

    def __init__(self, schema: Schema, instances: int, rng: np.random.Generator):
        self.instances = range(instances)
        self.rng = rng
        self.names = [node.name for node in schema.non_singletons()]
        self.bounds = {(node.name, link.target): link for node, link in schema.links()}

        flags = schema.constraints
        self.undirected = flags.undirected
        self.may_close = flags.cyclic or not flags.undirected  # a ring, disregarding directions
        self.may_precede = _rule_of_ranks(flags)
        self.most_incoming = flags.most_incoming
        if flags.undirected:
            self._check_reverse_links()

    def _check_reverse_links(self) -> None:
        for start, target in self.bounds:
            if (target, start) not in self.bounds:
                raise SchemaError(
                    f"expected a link from '{target}' back to '{start}', as links are undirected.",
                    where=f"nodes.{target}.links",
                )

    def links(self) -> SampleLinks:
        """The links of one sample.

        Raises:
            SchemaError: if none were found.
        """
        for _ in range(_TRIES):
            if self._attempt():
                return self.drawn.links
        raise SchemaError(
            f"no links between {len(self.instances)} instances were found that keep all bounds.",
            where="nodes",
            remedy="Ask for more instances, widen the bounds, or allow cycles or fan-in.",
        )

    def _attempt(self) -> bool:
        """Draw links, in a new random order of all instances; whether every kind is among them."""
        order = self._shuffled(product(self.names, self.instances))
        self.rank = {instance: rank for rank, instance in enumerate(order)}
        self.drawn = _Drawn(frozenset())
        if not all(map(self._has_or_grows, self._shuffled(self.bounds))):
            return False

        for start in order:
            self._grow_at_random(start)
        return True

    def _grow_at_random(self, start: Instance) -> None:
        """Add links at an instance: those it may do without with a chance of one half."""
        for kind, link in self.bounds.items():
            if kind[0] != start[0]:
                continue
            chance = 1.0 if link.lower else 0.5
            if self.rng.random() < chance:
                self._grow(kind, start)

    def _has_or_grows(self, kind: _Kind) -> bool:
        """Add links of a kind somewhere, unless there are some; whether it was possible."""
        if kind in self.drawn.kinds():
            return True
        return any(self._grow(kind, start) for start in self._instances_of(kind[0]))

    def _grow(self, kind: _Kind, start: Instance) -> bool:
        """Add links of a kind at ``start`` that keep all rules; whether it was possible."""
        for added in self._proposals(kind, start):
            grown = self.drawn.plus(added)
            if self._is_allowed(grown):
                self.drawn = grown
                return True
        return False

    def _proposals(self, kind: _Kind, first: Instance) -> list[_Links]:
        """Sets of links that may be added at ``first``: a random number of them, then the least."""
        link = self.bounds[kind]
        have = self.drawn.outgoing[first, kind[1]]
        least = max(link.lower - have, 1)
        most = least + _EXTRA if link.upper is None else link.upper - have
        most = min(most, len(self.instances))
        if most < least:
            return []

        some = int(self.rng.integers(least, most + 1))
        proposals = self._sets(kind, first, some)
        if some != least:
            proposals += self._sets(kind, first, least)
        return proposals

    def _sets(self, kind: _Kind, first: Instance, count: int) -> list[_Links]:
        """Sets of links that give an instance ``count`` links of a kind.

        There is none if there are not so many free ends.
        """
        ends = self._instances_of(kind[1])
        chosen = [end for end in ends if self._may_link(first, end)][:count]
        if len(chosen) < count:
            return []
        if not self.undirected:
            return [set(product([first], chosen))]

        star = _both_ways([first], chosen)
        if kind[0] == kind[1]:
            clique = [first, *chosen]
            return [star, _both_ways(clique, clique)]

        back = self.bounds[kind[1], kind[0]].lower
        if back <= 1:
            return [star]
        # One link back is too few for the other ends: join all with all.
        starts = dict.fromkeys([first, *self._instances_of(kind[0])])
        return [star, _both_ways(list(starts)[:back], chosen)]

    def _may_link(self, start: Instance, end: Instance) -> bool:
        """Whether there may be one link more between two instances, as far as these two tell."""
        is_new = (start, end) not in self.drawn.links
        is_in_order = self.may_precede(self.rank[start], self.rank[end])
        has_room = self.drawn.incoming[end] < self.most_incoming
        return is_new and is_in_order and has_room

    def _is_allowed(self, drawn: _Drawn) -> bool:
        """Whether links keep the bounds and constraints."""
        for (start, target), count in drawn.outgoing.items():
            if not self.bounds[start[0], target].allows(count):
                return False

        if max(drawn.incoming.values()) > self.most_incoming:
            return False
        # Directed links cannot form a cycle, as they lead to higher ranks.
        return self.may_close or not closes(drawn.links)

    def _instances_of(self, node: str) -> list[Instance]:
        """The instances of a node in a random order."""
        return self._shuffled(product([node], self.instances))

    def _shuffled(self, things: Iterable[_Thing]) -> list[_Thing]:
        given = list(things)
        return [given[place] for place in self.rng.permutation(len(given))]


def _rule_of_ranks(flags: Constraints) -> Callable[[int, int], bool]:
    """Which ranks, in a random order of all instances, the ends of a link may have."""
    if flags.undirected:
        return operator.ne  # an instance has no link to itself
    if flags.cyclic:
        return lambda start, end: True
    return operator.lt  # no way leads back


def _both_ways(some: list[Instance], others: list[Instance]) -> _Links:
    """Links between all of some and all others, in both directions; none to itself."""
    links = {*product(some, others), *product(others, some)}
    return {(start, end) for start, end in links if start != end}
