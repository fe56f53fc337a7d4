"""The whole problem of a match: nodes of destinations, one or two sides, against those of sources."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice

from easeml.schema.matching.assignment import Assignment, Domain, Domains, Slots, State
from easeml.schema.matching.budget import Budget
from easeml.schema.matching.cover import cover
from easeml.schema.matching.embedding import Candidates, pair_components
from easeml.schema.matching.fields import Fields, consistent_values, mentions_of
from easeml.schema.matching.links import Graph, graphs
from easeml.schema.matching.patterns import (
    End,
    Groups,
    Member,
    Pattern,
    destination_groups,
    source_groups,
)
from easeml.schema.matching.shapes import Shape, alternatives
from easeml.schema.structure import Structure, is_wildcard, wildcard_place

Pair = tuple[Member, Member]  # a destination's node and the source's node that it takes
_Place = tuple[int, str]  # side and name of a node


@dataclass(frozen=True)
class Solution:
    """Every pair of nodes, the pairs of their values, and the decided keys.

    ``fields``: by pair of nodes, the places of the values in the members' ``fields``. ``decided``:
    by pair, key -> value, with local keys under their real names.
    """

    pairs: list[Pair]
    fields: list[list[tuple[int, int]]]
    decided: list[Mapping[str, object]]


class Problem:
    """Which of a source's nodes the nodes of a destination could take.

    ``sides``: destination and source of each side. Keys in ``loose`` need not agree. Without
    ``linked``, links are not looked at: what does not match then does not for other reasons.
    """

    def __init__(
        self,
        sides: Sequence[tuple[Structure, Structure]],
        budget: Budget,
        *,
        loose: Collection[str] = (),
        linked: bool = True,
    ):
        self.budget = budget
        self.graphs = [_graphs(*side) if linked else (None, None) for side in sides]
        self.wanted = destination_groups(
            [destination for destination, _ in sides],
            [graph for graph, _ in self.graphs],
            loose,
        )
        self.given = source_groups(
            [source for _, source in sides],
            [graph for _, graph in self.graphs],
        )
        self.slots = list(self.wanted)
        self.items = list(self.given)
        self.keys = [slot.keys for slot in self.slots]
        self.find = cache(alternatives)
        self._fields: dict[tuple[int, int], Fields] = {}
        self.fitting = self._fitting()
        self.homes = self._homes()
        self.assignment = Assignment(
            slots=[self._slots(i) for i in range(len(self.slots))],
            given=[len(members) for members in self.given.values()],
            homeless=[not homes for homes in self.homes],
            support=self._support,
            budget=budget,
        )

    def _fitting(self) -> list[list[int]]:
        """By slot group: the item groups that fit, as far as that depends on the two alone."""
        index = _index(self.items)
        fitting = []
        for i, slot in enumerate(self.slots):
            near = _near(slot, index)
            self.budget.spend(1 + 2 * len(near))
            fits = [j for j in near if self._fit_alone(i, j)]
            fitting.append(fits)
        return fitting

    def _homes(self) -> list[list[int]]:
        """By item group: the repeated slot groups that take any number of its members."""
        homes: list[list[int]] = [[] for _ in self.items]
        for i, slot in enumerate(self.slots):
            if not slot.repeat:
                continue
            for j in self.fitting[i]:
                homes[j].append(i)
        return homes

    def _fit_alone(self, i: int, j: int) -> bool:
        slot = self.slots[i]
        item = self.items[j]
        if item.repeat and slot.repeat not in (item.repeat, "*"):
            return False

        if slot.singleton:
            found = self.find(slot.shapes[0], item.shapes[0])
            return bool(found)

        if not _ends_fit(slot, item):
            return False
        return self.fields(i, j).state({}) is not None

    def fields(self, i: int, j: int) -> Fields:
        """The values of slot group i against those of item group j."""
        if (i, j) not in self._fields:
            self._fields[i, j] = Fields(self.slots[i], self.items[j], self.find, self.budget)
        return self._fields[i, j]

    def _slots(self, i: int) -> Slots:
        slot = self.slots[i]
        candidates = tuple(self.fitting[i])
        if slot.repeat:
            # Its copies have keys of their own, and those beyond the first are never needed.
            return Slots(
                wanted=len(self.wanted[slot]) if slot.repeat == "+" else 0,
                keys=(),
                candidates=candidates,
                mentions={},
            )

        return Slots(
            wanted=len(self.wanted[slot]),
            keys=self.keys[i],
            candidates=candidates,
            mentions=self._mentions(i),
        )

    def _mentions(self, i: int) -> dict[str, Domain]:
        """Every value that a candidate could give a key of slot group i."""
        keys = self.keys[i]
        if not keys:
            return {}

        self.budget.spend(len(self.fitting[i]))
        mentions: dict[str, Domain] = {}
        for j in self.fitting[i]:
            found = mentions_of(self.slots[i].shapes, self.items[j].shapes, self.find)
            for key in keys:
                if key in found:
                    mentions.setdefault(key, {}).update(found[key])
        return mentions

    def _support(self, i: int, j: int, domains: Domains) -> Mapping[str, Domain | None] | None:
        if not self.keys[i]:
            return {}  # it fits, as ``fitting`` has found

        slot = self.slots[i]
        if not slot.singleton:
            return self.fields(i, j).support(domains)

        found = self.find(slot.shapes[0], self.items[j].shapes[0])
        return consistent_values(found, domains)

    def solution(self) -> Solution | None:
        """A match, always the same for the same schemas; None if there is none.

        Raises:
            Undecided: if the budget does not suffice.
        """
        for state in self.assignment.solutions():
            linked = self._linked_pairs(state)
            if linked is not None:
                pairs = [*self._free_pairs(state), *linked]
                return self._solved(state, pairs)
        return None

    def _linked_pairs(self, state: State) -> list[Pair] | None:
        """Pairs of the nodes in connected components, or None if links do not meet links."""
        pairs: list[Pair] = []
        slots = _groups_of(self.wanted)
        members = _members(self.wanted) | _members(self.given, of_source=True)

        @cache
        def candidates(i: int) -> Candidates:
            """The names of what slot group i may become."""
            names: Candidates = {}
            for j in state.candidates[i]:
                names.update(dict.fromkeys(member.name for member in self.given[self.items[j]]))
            return names

        for side, (wanted, given) in enumerate(self.graphs):
            if wanted is None or given is None:
                continue

            def allowed(name: str, side: int = side) -> Candidates:
                return candidates(slots[side, name])

            mapping = pair_components(wanted, given, allowed, self.budget)
            if mapping is None:
                return None
            for name, other in mapping.items():
                pair = (members[False, side, name], members[True, side, other])
                pairs.append(pair)

        return pairs

    def _free_pairs(self, state: State) -> Iterator[Pair]:
        """Pairs of the nodes that no link joins to others, as the flow shares them out."""
        left = [iter(self._unlinked(self.given[item])) for item in self.items]
        for i, units in enumerate(state.flow or []):
            members = self._unlinked(self.wanted[self.slots[i]], destination=True)
            takers = iter(members)
            for j, count in units.items():
                items = islice(left[j], count)
                for item, taker in zip(items, takers, strict=False):
                    yield taker, item

        # What is left goes to the repeated nodes that take it.
        for j, rest in enumerate(left):
            for member in rest:
                home = self.slots[self.homes[j][0]]
                yield self.wanted[home][0], member

    def _unlinked(self, members: list[Member], *, destination: bool = False) -> list[Member]:
        """The members that no link joins to others."""
        wanted, given = self.graphs[members[0].side]
        graph = wanted if destination else given
        if graph is None:
            return members

        joined: set[str] = set()
        for component in graph.components:
            joined.update(component)
        return [member for member in members if member.name not in joined]

    def _solved(self, state: State, pairs: list[Pair]) -> Solution:
        """The solution with these pairs of nodes: the pairs of their values, what is decided."""
        slots = _groups_of(self.wanted)
        items = _groups_of(self.given)
        decided = {}
        for key, domain in state.domains.items():
            if len(domain) == 1:
                decided[key] = next(iter(domain))

        @cache
        def fields_of(i: int, j: int) -> tuple[list[tuple[int, int]], Domains]:
            return self.fields(i, j).pairs(state.domains)

        fields: list[list[tuple[int, int]]] = []
        keys: list[Mapping[str, object]] = []
        for slot, item in pairs:
            i = slots[slot.side, slot.name]
            j = items[item.side, item.name]
            if self.slots[i].singleton:
                fields.append([(0, 0)])
                keys.append(decided)
                continue

            places, local = fields_of(i, j)
            real = {slot.local[key]: next(iter(domain)) for key, domain in local.items()}
            fields.append(places)
            keys.append({**decided, **real})

        return Solution(pairs, fields, keys)


def _groups_of(groups: Groups) -> dict[_Place, int]:
    """The number of the group of each node."""
    numbers: dict[_Place, int] = {}
    for number, members in enumerate(groups.values()):
        for member in members:
            numbers[member.side, member.name] = number
    return numbers


def _members(groups: Groups, *, of_source: bool = False) -> dict[tuple[bool, int, str], Member]:
    """The members by whether they are a source's, side and name."""
    found = {}
    for members in groups.values():
        for member in members:
            found[of_source, member.side, member.name] = member
    return found


def _graphs(destination: Structure, source: Structure) -> tuple[Graph, Graph] | tuple[None, None]:
    """The graphs of links of both; none if there are no links."""
    nodes = [*destination.nodes.values(), *source.nodes.values()]
    if not any(node.links for node in nodes):
        return None, None
    wanted, given = graphs(destination, source)
    return wanted, given


def _ends_fit(slot: Pattern, item: Pattern) -> bool:
    """Whether the links at one node can meet those at the other, by their bounds and colours."""
    if len(slot.ends) != len(item.ends):
        return False
    if not slot.ends:
        return True

    wanted = list(dict.fromkeys(slot.ends))
    given = list(dict.fromkeys(item.ends))
    candidates = []
    for end in wanted:
        fits = [j for j, other in enumerate(given) if _end_takes(end, other)]
        candidates.append(fits)

    flow = cover(
        wanted=[slot.ends.count(end) for end in wanted],
        given=[item.ends.count(end) for end in given],
        candidates=candidates,
        homeless=[True] * len(given),
    )
    return flow is not None


def _end_takes(slot: End, item: End) -> bool:
    *kind, lower, upper = slot
    *other_kind, other_lower, other_upper = item
    return kind == other_kind and lower <= other_lower and other_upper <= upper


_Index = Mapping[tuple[object, ...], list[int]]


def _index(items: Sequence[Pattern]) -> _Index:
    """Item groups by kind; singletons also by their dims and by their number of dims."""
    index: dict[tuple[object, ...], list[int]] = {}
    for j, item in enumerate(items):
        index.setdefault(item.kind, []).append(j)
        if not item.singleton:
            continue
        for place in _index_places(item.shapes[0]):
            index.setdefault((*item.kind, *place), []).append(j)
    return index


def _index_places(shape: Shape) -> list[tuple[object, ...]]:
    dims = shape.dims
    if wildcard_place(dims) is not None:
        return [("wild",)]
    return [("dims", dims), ("rank", len(dims))]


def _near(slot: Pattern, index: _Index) -> list[int]:
    """The item groups that ``slot`` could take, found without looking at all of them."""
    everything = index.get(slot.kind, [])
    if not slot.singleton:
        return everything

    dims = slot.shapes[0].dims
    names = [dim for dim in dims if isinstance(dim, str)]
    if any(is_wildcard(name) for name in names):
        return everything

    # Without variables the dims have to be the same, with them as many; an item's wildcard may
    # always come to that.
    place = ("rank", len(dims)) if names else ("dims", dims)
    alike = index.get((*slot.kind, *place), [])
    wild = index.get((*slot.kind, "wild"), [])
    return sorted([*alike, *wild])
