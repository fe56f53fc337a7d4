"""Random links between instances, within the bounds and constraints of a schema.

First a small pattern for each kind of link, so that it occurs, then more at random. An instance
gets the least number of links of a kind at once, or none, so that bounds hold after each step.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable
from itertools import chain, product
from math import inf
from typing import TYPE_CHECKING

from easeml.schema.samples.links_of_samples import closes
from easeml.schema.samples.sample import Instance, SampleLinks
from easeml.schema.schema import Schema
from easeml.schema.structure import Constraints, Link, SchemaError

if TYPE_CHECKING:
    import numpy as np

_TRIES = 30
_EXTRA = 3  # links of a kind beyond the least, where there is no upper bound

_Links = set[tuple[Instance, Instance]]
_Kind = tuple[str, str]  # the nodes that a link leads from and to


class Linker:
    """Makes the links of one sample."""

    def __init__(self, schema: Schema, instances: int, rng: np.random.Generator):
        self.instances = instances
        self.rng = rng
        self.names = [node.name for node in schema.non_singletons()]
        self.bounds: dict[_Kind, Link] = {}
        for node, link in schema.links():
            self.bounds[node.name, link.target] = link

        flags = schema.constraints
        self.undirected = flags.undirected
        self.may_close = flags.cyclic or not flags.undirected  # a ring, disregarding directions
        self.may_precede = _rule_of_ranks(flags)
        self.most_incoming = _most_incoming(flags)
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
            found = self._attempt()
            if found is not None:
                return frozenset(found)
        raise SchemaError(
            f"no links between {self.instances} instances were found that keep all bounds.",
            where="nodes",
            remedy="Ask for more instances, widen the bounds, or allow cycles or fan-in.",
        )

    def _attempt(self) -> _Links | None:
        """Links with every kind in them, or None where chance did not find them."""
        everyone = list(product(self.names, range(self.instances)))
        order = [everyone[place] for place in self.rng.permutation(len(everyone))]
        self.rank = {instance: rank for rank, instance in enumerate(order)}

        links: _Links = set()
        kinds = list(self.bounds)
        for number in self.rng.permutation(len(kinds)):
            if not self._has_or_grows(links, kinds[number]):
                return None

        for start in order:
            self._grow_at_random(links, start)
        return links

    def _grow_at_random(self, links: _Links, start: Instance) -> None:
        """Add links at an instance: those it may do without with a chance of one half."""
        own = [kind for kind in self.bounds if kind[0] == start[0]]
        for kind in own:
            chance = 1.0 if self.bounds[kind].lower else 0.5
            if self.rng.random() < chance:
                self._grow(links, kind, start)

    def _has_or_grows(self, links: _Links, kind: _Kind) -> bool:
        """Add links of a kind somewhere, unless there are some; whether it was possible."""
        present = {(start[0], end[0]) for start, end in links}
        if kind in present:
            return True
        return any(self._grow(links, kind, start) for start in self._shuffled(kind[0]))

    def _grow(self, links: _Links, kind: _Kind, start: Instance) -> bool:
        """Add links of a kind at ``start`` that keep all rules; whether it was possible."""
        for added in self._proposals(links, kind, start):
            if added and self._keeps(links | added, added):
                links |= added
                return True
        return False

    def _proposals(self, links: _Links, kind: _Kind, first: Instance) -> list[_Links]:
        """Sets of links that may be added at ``first``: a random number of them, then the least."""
        link = self.bounds[kind]
        have = sum(start == first and end[0] == kind[1] for start, end in links)
        least = max(link.lower - have, 1)
        most = least + _EXTRA if link.upper is None else link.upper - have
        most = min(most, self.instances)
        if most < least:
            return []

        some = int(self.rng.integers(least, most + 1))
        proposals = self._sets(links, kind, first, some)
        if some != least:
            proposals += self._sets(links, kind, first, least)
        return proposals

    def _sets(self, links: _Links, kind: _Kind, first: Instance, count: int) -> list[_Links]:
        """Sets of links that give an instance ``count`` links of a kind.

        There is none if there are not so many free ends.
        """
        chosen = self._free_ends(links, kind[1], first)[:count]
        if len(chosen) < count:
            return []
        if not self.undirected:
            return [set(product([first], chosen))]

        star = _both_ways([first], chosen)
        if kind[0] == kind[1]:
            clique = [first, *chosen]
            return [star, _both_ways(clique, clique)]

        back = max(self.bounds[kind[1], kind[0]].lower, 1)
        if back == 1:
            return [star]
        # One link back is too few for the other ends: join all with all.
        others = [end for end in self._shuffled(kind[0]) if end != first]
        starts = [first, *others][:back]
        return [star, _both_ways(starts, chosen)]

    def _free_ends(self, links: _Links, node: str, first: Instance) -> list[Instance]:
        """The instances of a node that ``first`` may link to, at random."""
        free = []
        for end in self._shuffled(node):
            is_new = (first, end) not in links
            if is_new and self._may_link(links, first, end):
                free.append(end)
        return free

    def _may_link(self, links: _Links, start: Instance, end: Instance) -> bool:
        """Whether the constraints allow one link more, as far as its ends tell."""
        if not self.may_precede(self.rank[start], self.rank[end]):
            return False
        incoming = sum(other == end for _, other in links)
        return incoming < self.most_incoming

    def _keeps(self, links: _Links, added: _Links) -> bool:
        """Whether the bounds and constraints hold at all ends of what was added."""
        touched = set(chain.from_iterable(added))
        outgoing = Counter((start, end[0]) for start, end in links if start in touched)
        for (start, target), count in outgoing.items():
            link = self.bounds[start[0], target]
            if not link.lower <= count <= link.most:
                return False

        incoming = Counter(end for _, end in links if end in touched)
        if max(incoming.values(), default=0) > self.most_incoming:
            return False
        # Directed links cannot form a cycle, as they lead to higher ranks.
        return self.may_close or not closes(frozenset(links))

    def _shuffled(self, name: str) -> list[Instance]:
        return [(name, int(index)) for index in self.rng.permutation(self.instances)]


def _rule_of_ranks(flags: Constraints) -> Callable[[int, int], bool]:
    """Which ranks, in a random order of all instances, the ends of a link may have."""
    if flags.undirected:
        return operator.ne  # an instance has no link to itself
    if flags.cyclic:
        return lambda start, end: True
    return operator.lt  # no way leads back


def _most_incoming(flags: Constraints) -> float:
    """How many links may lead to one instance."""
    if flags.fan_in:
        return inf
    return 2 if flags.undirected else 1


def _both_ways(some: list[Instance], others: list[Instance]) -> _Links:
    """Links between all of some and all others, in both directions; none to itself."""
    links = {*product(some, others), *product(others, some)}
    return {(start, end) for start, end in links if start != end}
