"""Nodes connected by links: what their connections say about who can be who, and finding who is
who.

As a destination and a source have equally many nodes, and paired nodes equally many links, a match
of linked nodes is an isomorphism of the graphs of links. So whatever an isomorphism keeps must be
equal: here the colour, a summary of a node's surroundings (colour refinement), and the colours of
its connected component.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from easeml.schema.matching.budget import Budget
from easeml.schema.structure import Link, Node, Structure

_ROUNDS = 12  # of refinement; more would tell long chains apart further, at a cost that grows with their length

Candidates = dict[str, None]  # names in a fixed order


@dataclass(frozen=True)
class Graph:
    """The non-singletons of a schema. ``outgoing`` and ``incoming``: by node, then by neighbour."""

    outgoing: Mapping[str, Mapping[str, Link]]
    incoming: Mapping[str, Mapping[str, Link]]
    colour: Mapping[str, int]
    components: Sequence[tuple[str, ...]]  # of two nodes and more

    def ends(self, name: str) -> Iterator[tuple[bool, bool, int, Link]]:
        """For each end of a link at a node: whether it goes out, back to the node itself, the
        other's colour.
        """
        for other, link in self.outgoing[name].items():
            yield True, other == name, self.colour[other], link
        for other, link in self.incoming[name].items():
            yield False, other == name, self.colour[other], link


def graphs(*schemas: Structure) -> list[Graph]:
    """The graphs of several schemas, with colours that can be compared between them."""
    outgoing = [
        {n.name: {e.target: e for e in n.links} for n in s.nodes.values() if not n.singleton}
        for s in schemas
    ]
    incoming = [_reversed(links) for links in outgoing]
    numbers: dict[Hashable, int] = {}

    def number(key: Hashable) -> int:
        return numbers.setdefault(key, len(numbers))

    colour = [
        {name: number(_first(schema.nodes[name], into[name])) for name in links}
        for schema, links, into in zip(schemas, outgoing, incoming, strict=True)
    ]
    for _ in range(_ROUNDS):
        finer = [
            {name: number(_refined(name, old, links, into)) for name in links}
            for old, links, into in zip(colour, outgoing, incoming, strict=True)
        ]
        stable = _kinds(finer) == _kinds(colour)
        colour = finer
        if stable:
            break
    made = []
    for colours, links, into in zip(colour, outgoing, incoming, strict=True):
        components = list(_components(links, into))
        final = {}
        for component in components:
            whole = tuple(sorted(Counter(colours[name] for name in component).items()))
            final.update({name: number(("in", colours[name], whole)) for name in component})
        made.append(Graph(links, into, final, [c for c in components if len(c) > 1]))
    return made


def _kinds(colour: Sequence[Mapping[str, int]]) -> int:
    return len({number for colours in colour for number in colours.values()})


def _reversed(links: Mapping[str, Mapping[str, Link]]) -> dict[str, dict[str, Link]]:
    into: dict[str, dict[str, Link]] = {name: {} for name in links}
    for name, targets in links.items():
        for target, link in targets.items():
            into[target][name] = link
    return into


def _first(node: Node, into: Mapping[str, Link]) -> Hashable:
    types = tuple(sorted(Counter(field.type for field in node.fields).items()))
    return types, len(node.links), len(into), node.name in into


def _refined(
    name: str,
    old: Mapping[str, int],
    links: Mapping[str, Mapping[str, Link]],
    into: Mapping[str, Mapping[str, Link]],
) -> Hashable:
    there, back = (tuple(sorted(old[other] for other in ends[name])) for ends in (links, into))
    return old[name], there, back


def _components(
    links: Mapping[str, Mapping[str, Link]], into: Mapping[str, Mapping[str, Link]]
) -> Iterator[tuple[str, ...]]:
    """The connected components, disregarding directions."""
    seen: set[str] = set()
    for start in links:
        if start in seen:
            continue
        seen.add(start)
        found = [start]
        for name in found:
            for other in (*links[name], *into[name]):
                if other not in seen:
                    seen.add(other)
                    found.append(other)
        yield tuple(found)


def pair_components(
    wanted: Graph, given: Graph, allowed: Callable[[str], Candidates], budget: Budget
) -> dict[str, str] | None:
    """Map every linked node of ``wanted`` to one of ``given``, so that links meet links within
    their bounds.

    ``allowed(node)``: the nodes of ``given`` that it may become. Components are independent of each
    other, so which one becomes which is a bipartite matching.
    """
    partner: dict[int, int] = {}  # component of given -> of wanted
    found: dict[tuple[int, int], dict[str, str] | None] = {}
    homes = [_home_colours(given, component) for component in given.components]

    def fits(i: int, j: int) -> bool:
        if (i, j) not in found:
            found[i, j] = _Embedding(
                wanted, given, wanted.components[i], given.components[j], allowed, budget
            ).find()
        return found[i, j] is not None

    def place(i: int) -> bool:
        """Find a component for i along an augmenting path."""
        colours = _home_colours(wanted, wanted.components[i])
        order = [j for j, home in enumerate(homes) if home == colours]
        reached: dict[int, int] = {}  # component of given -> the one of wanted that reaches it
        queue = [i]
        for here in queue:
            for j in sorted(order, key=lambda j: (j != here, j)):
                if j in reached or not fits(here, j):
                    continue
                reached[j] = here
                if j in partner:
                    queue.append(partner[j])
                    continue
                back = {owner: j for j, owner in partner.items()}
                step: int | None = j
                while step is not None:
                    owner = reached[step]
                    partner[step], step = owner, back.get(owner)
                return True
        return False

    if len(wanted.components) != len(given.components) or not all(
        map(place, range(len(wanted.components)))
    ):
        return None
    return {name: other for j, i in partner.items() for name, other in (found[i, j] or {}).items()}


def _home_colours(graph: Graph, component: Sequence[str]) -> int:
    """The least colour of a component: equal for components with equal colours, as colours tell the
    component.
    """
    return min(graph.colour[name] for name in component)


class _Embedding:
    """The search for one component in another: assign a node, follow its links, assign what they
    force, and so on.
    """

    def __init__(
        self,
        wanted: Graph,
        given: Graph,
        names: Sequence[str],
        others: Sequence[str],
        allowed: Callable[[str], Candidates],
        budget: Budget,
    ):
        self.wanted, self.given, self.budget = wanted, given, budget
        there = set(others)
        self.of_list: dict[int, Candidates] = {}
        self.domain = {name: self._within(allowed(name), there) for name in names}
        self.image: dict[str, str] = {}
        self.used: dict[str, str] = {}
        self.reached: dict[str, None] = {}  # not assigned, but next to an assigned node
        self.trail: list[tuple[str, Candidates, bool]] = []

    def _within(self, candidates: Candidates, there: set[str]) -> Candidates:
        known = self.of_list.get(id(candidates))
        if known is None:
            known = self.of_list[id(candidates)] = {
                name: None for name in candidates if name in there
            }
        return known

    def find(self) -> dict[str, str] | None:
        """The mapping, or None."""
        root = min(self.domain, key=lambda name: len(self.domain[name]))
        stack = [(root, iter(self.domain[root]), self._mark())]
        while stack:
            name, options, mark = stack[-1]
            self._undo(mark)
            option = next(options, None)
            if option is None:
                stack.pop()
                continue
            if option in self.used or not self._assign(name, option):
                continue
            if len(self.image) == len(self.domain):
                return dict(self.image)
            chosen = min(self.reached, key=lambda name: len(self.domain[name]))
            stack.append((chosen, iter(self.domain[chosen]), self._mark()))
        return None

    def _mark(self) -> tuple[int, int]:
        return len(self.trail), len(self.image)

    def _undo(self, mark: tuple[int, int]) -> None:
        while len(self.image) > mark[1]:
            name, other = self.image.popitem()
            del self.used[other]
            self.reached[name] = None
        while len(self.trail) > mark[0]:
            name, before, was_reached = self.trail.pop()
            self.domain[name] = before
            if not was_reached:
                self.reached.pop(name, None)

    def _assign(self, name: str, other: str) -> bool:
        """Assign, and all that follows from it; False if it leads to a contradiction."""
        queue = [(name, other)]
        for here, there in queue:
            if here in self.image:
                if self.image[here] != there:
                    return False
                continue
            if there in self.used:
                return False
            self.image[here], self.used[there] = there, here
            self.reached.pop(here, None)
            for ends, their_ends in (
                (self.wanted.outgoing[here], self.given.outgoing[there]),
                (self.wanted.incoming[here], self.given.incoming[there]),
            ):
                for neighbour, link in ends.items():
                    if not self._narrow(neighbour, link, their_ends):
                        return False
                    if neighbour not in self.image and len(self.domain[neighbour]) == 1:
                        queue.append((neighbour, next(iter(self.domain[neighbour]))))
        return True

    def _narrow(self, neighbour: str, link: Link, ends: Mapping[str, Link]) -> bool:
        self.budget.spend(len(ends))
        image = self.image.get(neighbour)
        if image is not None:
            return image in ends and link.holds(ends[image])
        before = self.domain[neighbour]
        after = {
            name: None
            for name, end in ends.items()
            if name in before and name not in self.used and link.holds(end)
        }
        self.trail.append((neighbour, before, neighbour in self.reached))
        self.domain[neighbour] = after
        self.reached[neighbour] = None
        return bool(after)
