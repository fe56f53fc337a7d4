"""Random links between instances: first a small pattern for each kind of link, so that it occurs,
then more at random.

An instance gets the least number of links of a kind at once, or none, so that bounds hold after
each step.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from easeml.schema.samples.values import Instance, SampleLinks, closes
from easeml.schema.schema import Schema
from easeml.schema.structure import Link, SchemaError

if TYPE_CHECKING:
    import numpy as np

_TRIES = 30
_EXTRA = 3  # links of a kind beyond the least, where there is no upper bound

_Links = set[tuple[Instance, Instance]]


class Linker:
    """Makes the links of one sample."""

    def __init__(self, schema: Schema, instances: int, rng: np.random.Generator):
        self.flags, self.instances, self.rng = schema.constraints, instances, rng
        self.bounds = {
            (node.name, link.target): link for node in schema.nodes.values() for link in node.links
        }
        self.names = [node.name for node in schema.nodes.values() if not node.singleton]
        if self.flags.undirected:
            for start, target in self.bounds:
                if (target, start) not in self.bounds:
                    message = f"expected a link from '{target}' back to '{start}', as links are undirected."
                    raise SchemaError(message, where=f"nodes.{target}.links")

    def links(self) -> SampleLinks:
        """The links of one sample; raises ``SchemaError`` if none were found."""
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
        everyone = [(name, index) for name in self.names for index in range(self.instances)]
        self.rank = {
            everyone[place]: rank for rank, place in enumerate(self.rng.permutation(len(everyone)))
        }
        links: _Links = set()
        for number in self.rng.permutation(len(self.bounds)):
            kind = list(self.bounds)[number]
            if not any((start[0], end[0]) == kind for start, end in links) and not self._grow(
                links, kind
            ):
                return None
        for start in sorted(everyone, key=lambda end: self.rank[end]):
            for kind in self.bounds:
                if kind[0] == start[0] and self.rng.random() < (
                    0.5 if self.bounds[kind].lower == 0 else 1.0
                ):
                    self._grow(links, kind, start)
        return links

    def _grow(self, links: _Links, kind: tuple[str, str], start: Instance | None = None) -> bool:
        """Add links of a kind, at ``start`` or anywhere, that keep all rules; whether it was
        possible.
        """
        starts = [start] if start is not None else self._shuffled(kind[0])
        for first in starts:
            for added in self._proposals(links, kind, first):
                if added and self._keeps(links | added, added):
                    links |= added
                    return True
        return False

    def _proposals(self, links: _Links, kind: tuple[str, str], first: Instance) -> list[_Links]:
        """Sets of links that may be added at ``first``: a random number of them, then the least
        possible one.
        """
        link = self.bounds[kind]
        have = sum(start == first and end[0] == kind[1] for start, end in links)
        least = max(link.lower - have, 1)
        most = least + _EXTRA if link.upper is None else link.upper - have
        most = min(most, self.instances)
        if most < least:
            return []
        counts = dict.fromkeys((int(self.rng.integers(least, most + 1)), least))
        return [added for count in counts for added in self._sets(links, kind, first, count)]

    def _sets(
        self, links: _Links, kind: tuple[str, str], first: Instance, count: int
    ) -> list[_Links]:
        """Sets of links that give an instance ``count`` links of a kind; none if there are not so
        many free ends.
        """
        chosen = self._free_ends(links, kind[1], first)[:count]
        if len(chosen) < count:
            return []
        if not self.flags.undirected:
            return [{(first, end) for end in chosen}]
        star = _both_ways([first], chosen)
        back = max(self.bounds[kind[1], kind[0]].lower, 1)
        if kind[0] == kind[1]:
            clique = [first, *chosen]
            return [star, _both_ways(clique, clique)]
        if back == 1:
            return [star]
        # One link back is too few for the other ends: join all with all.
        others = [end for end in self._shuffled(kind[0]) if end != first]
        return [star, _both_ways([first, *others][:back], chosen)]

    def _free_ends(self, links: _Links, node: str, first: Instance) -> list[Instance]:
        return [
            end
            for end in self._shuffled(node)
            if (first, end) not in links and self._may(links, first, end)
        ]

    def _may(self, links: _Links, start: Instance, end: Instance) -> bool:
        if not self.flags.cyclic and (
            start == end or (not self.flags.undirected and self.rank[start] > self.rank[end])
        ):
            return False
        if self.flags.undirected and start == end:
            return False
        if self.flags.fan_in:
            return True
        return sum(other == end for _, other in links) < (2 if self.flags.undirected else 1)

    def _keeps(self, links: _Links, added: _Links) -> bool:
        """Whether the bounds and constraints hold at all ends of what was added."""
        touched = {end for pair in added for end in pair}
        outgoing = Counter((start, end[0]) for start, end in links if start in touched)
        if not all(
            _inside(self.bounds[start[0], target], count)
            for (start, target), count in outgoing.items()
        ):
            return False
        if not self.flags.fan_in:
            incoming = Counter(end for _, end in links if end in touched)
            if any(count > (2 if self.flags.undirected else 1) for count in incoming.values()):
                return False
        return self.flags.cyclic or not self.flags.undirected or not closes(frozenset(links))

    def _shuffled(self, name: str) -> list[Instance]:
        return [(name, int(index)) for index in self.rng.permutation(self.instances)]


def _inside(link: Link, count: int) -> bool:
    return count >= link.lower and (link.upper is None or count <= link.upper)


def _both_ways(some: list[Instance], others: list[Instance]) -> _Links:
    """Links between all of some and all others, in both directions, but to itself."""
    links: _Links = set()
    for one in some:
        for other in others:
            if one != other:
                links |= {(one, other), (other, one)}
    return links
