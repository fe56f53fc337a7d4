"""Finding which linked node becomes which: components by a matching, their nodes by a search."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from easeml.schema.matching.budget import Budget
from easeml.schema.matching.links import Graph
from easeml.schema.structure import Link

Candidates = dict[str, None]  # names in a fixed order
_Allowed = Callable[[str], Candidates]


def pair_components(
    wanted: Graph, given: Graph, allowed: _Allowed, budget: Budget
) -> dict[str, str] | None:
    """Map every linked node of ``wanted`` to one of ``given``, so that links meet links.

    ``allowed(node)``: the nodes of ``given`` that it may become. The links of ``given`` lie within
    the bounds of those they meet. Components are independent of each other, so which one becomes
    which is a bipartite matching. None if there is no such map.
    """
    if len(wanted.components) != len(given.components):
        return None

    pairing = _ComponentPairing(wanted, given, allowed, budget)
    components = range(len(wanted.components))
    if not all(map(pairing.place, components)):
        return None
    return pairing.mapping()


class _ComponentPairing:
    """Which component becomes which, found along augmenting paths."""

    def __init__(self, wanted: Graph, given: Graph, allowed: _Allowed, budget: Budget):
        self.wanted = wanted
        self.given = given
        self.allowed = allowed
        self.budget = budget
        self.partner: dict[int, int] = {}  # component of given -> of wanted
        self.embed = cache(self._embed)
        self.homes = [_home_colour(given, component) for component in given.components]

    def place(self, start: int) -> bool:
        """Find a component of ``given`` for one of ``wanted``, moving others where that helps."""
        colour = _home_colour(self.wanted, self.wanted.components[start])
        alike = [number for number, home in enumerate(self.homes) if home == colour]

        reached: dict[int, int] = {}  # component of given -> the one of wanted that reaches it
        queue = [start]
        for here in queue:
            # Components often come in the same order on both sides.
            nearest_first = sorted(alike, key=lambda there, here=here: (there != here, there))
            for there in nearest_first:
                if there in reached or self.embed(here, there) is None:
                    continue
                reached[there] = here
                if there not in self.partner:
                    self._move_along(there, reached)
                    return True
                queue.append(self.partner[there])

        return False

    def _embed(self, here: int, there: int) -> dict[str, str] | None:
        """The nodes of a component of ``wanted`` as those of one of ``given``; None if none are."""
        search = _Embedding(
            wanted=self.wanted,
            given=self.given,
            names=self.wanted.components[here],
            others=self.given.components[there],
            allowed=self.allowed,
            budget=self.budget,
        )
        return search.find()

    def _move_along(self, free: int, reached: Mapping[int, int]) -> None:
        """Give the free component to what reached it, what that had to the next, and so on."""
        before = {owner: component for component, owner in self.partner.items()}
        component: int | None = free
        while component is not None:
            owner = reached[component]
            self.partner[component] = owner
            component = before.get(owner)

    def mapping(self) -> dict[str, str]:
        """The nodes of all components."""
        nodes: dict[str, str] = {}
        for there, here in self.partner.items():
            nodes.update(self.embed(here, there) or {})
        return nodes


def _home_colour(graph: Graph, component: Sequence[str]) -> int:
    """The least colour of a component: components are alike if it is equal."""
    return min(map(graph.colour.__getitem__, component))


class _Embedding:
    """The search for one component in another.

    It assigns a node, follows its links, assigns what they force, and so on.
    """

    def __init__(
        self,
        wanted: Graph,
        given: Graph,
        names: Sequence[str],
        others: Sequence[str],
        allowed: _Allowed,
        budget: Budget,
    ):
        self.wanted = wanted
        self.given = given
        self.budget = budget
        self.image: dict[str, str] = {}
        self.used: dict[str, str] = {}
        self.reached: dict[str, None] = {}  # not assigned, but next to an assigned node
        self.trail: list[tuple[str, Candidates, bool]] = []

        there = set(others)
        self._shared_lists: dict[int, Candidates] = {}
        self.domain = {name: self._within(allowed(name), there) for name in names}

    def _within(self, candidates: Candidates, there: set[str]) -> Candidates:
        """The candidates that lie in the component; one list for nodes that share theirs."""
        shared = self._shared_lists.get(id(candidates))
        if shared is not None:
            return shared

        inside = {name: None for name in candidates if name in there}
        self._shared_lists[id(candidates)] = inside
        return inside

    def find(self) -> dict[str, str] | None:
        """The mapping, or None."""
        stack = [self._level(self.domain)]
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
            stack.append(self._level(self.reached))

        return None

    def _level(self, names: Mapping[str, object]) -> tuple[str, Iterator[str], tuple[int, int]]:
        """Choose the node with the fewest options: its name, the options, the state before it."""
        name = min(names, key=lambda name: len(self.domain[name]))
        mark = (len(self.trail), len(self.image))
        return name, iter(self.domain[name]), mark

    def _undo(self, mark: tuple[int, int]) -> None:
        trail_length, assigned = mark
        while len(self.image) > assigned:
            name, other = self.image.popitem()
            del self.used[other]
            self.reached[name] = None

        while len(self.trail) > trail_length:
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

            self.image[here] = there
            self.used[there] = here
            self.reached.pop(here, None)
            forced = self._follow_links(here, there)
            if forced is None:
                return False
            queue += forced
        return True

    def _follow_links(self, here: str, there: str) -> list[tuple[str, str]] | None:
        """Narrow what the neighbours may become; return those with one option left.

        None if one of them has no option.
        """
        forced: list[tuple[str, str]] = []
        both_directions = (
            (self.wanted.outgoing[here], self.given.outgoing[there]),
            (self.wanted.incoming[here], self.given.incoming[there]),
        )
        for ends, their_ends in both_directions:
            for neighbour, link in ends.items():
                if not self._narrow(neighbour, link, their_ends):
                    return None
                options = self.domain[neighbour]
                if neighbour not in self.image and len(options) == 1:
                    only = next(iter(options))
                    forced.append((neighbour, only))
        return forced

    def _narrow(self, neighbour: str, link: Link, ends: Mapping[str, Link]) -> bool:
        """Leave a neighbour only what such a link leads to; whether something is left."""
        self.budget.spend(len(ends))
        image = self.image.get(neighbour)
        if image is not None:
            return image in ends and link.holds(ends[image])

        before = self.domain[neighbour]
        after: Candidates = {}
        for name, end in ends.items():
            is_free = name in before and name not in self.used
            if is_free and link.holds(end):
                after[name] = None

        self.trail.append((neighbour, before, neighbour in self.reached))
        self.domain[neighbour] = after
        self.reached[neighbour] = None
        return bool(after)
