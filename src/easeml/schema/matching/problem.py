"""The problem of a match: nodes of destinations, one or two sides, against those of sources."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from itertools import chain

from easeml.schema.matching.assignment import Assignment, Domain, Domains, Slots
from easeml.schema.matching.budget import Budget
from easeml.schema.matching.cover import covers
from easeml.schema.matching.fields import Fields, consistent_values, mentions_of
from easeml.schema.matching.links import UNLINKED, End, Graph, graphs
from easeml.schema.matching.patterns import Pattern, destination_groups, source_groups
from easeml.schema.matching.shapes import Shape, alternatives
from easeml.schema.structure import TAKERS_OF_REPEAT, Structure, wildcard_place


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
        self.graphs = [_graphs(*side, linked=linked) for side in sides]
        wanted_graphs, given_graphs = zip(*self.graphs, strict=True)
        destinations, sources = zip(*sides, strict=True)
        self.wanted = destination_groups(destinations, wanted_graphs, loose)
        self.given = source_groups(sources, given_graphs)
        self.slots = list(self.wanted)
        self.items = list(self.given)
        self.keys = [slot.keys for slot in self.slots]
        self.find = cache(alternatives)
        self.fields = cache(self._values)
        self.fitting = self._fitting()
        self.homes = self._homes()
        self.assignment = Assignment(
            slots=list(map(self._slots, range(len(self.slots)))),
            given=list(map(len, self.given.values())),
            homeless=[j not in self.homes for j in range(len(self.items))],
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

    def _homes(self) -> dict[int, int]:
        """By item group that has one: the first repeated slot group that takes all its members."""
        homes: dict[int, int] = {}
        for i, slot in enumerate(self.slots):
            if slot.repeat:
                homes = dict.fromkeys(self.fitting[i], i) | homes
        return homes

    def _fit_alone(self, i: int, j: int) -> bool:
        slot = self.slots[i]
        item = self.items[j]
        if slot.repeat not in TAKERS_OF_REPEAT[item.repeat]:
            return False

        if slot.singleton:
            found = self.find(slot.shapes[0], item.shapes[0])
            return bool(found)

        if not _ends_fit(slot, item):
            return False
        return self.fields(i, j).state({}) is not None

    def _values(self, i: int, j: int) -> Fields:
        """The values of slot group i against those of item group j."""
        return Fields(self.slots[i], self.items[j], self.find, self.budget)

    def _slots(self, i: int) -> Slots:
        slot = self.slots[i]
        return Slots(
            wanted=0 if slot.repeat == "*" else len(self.wanted[slot]),
            keys=self.keys[i],
            candidates=tuple(self.fitting[i]),
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


def _graphs(destination: Structure, source: Structure, *, linked: bool) -> tuple[Graph, Graph]:
    """The graphs of links of both, as far as there are links and they are looked at."""
    has_links = any(chain(destination.links(), source.links()))
    if not linked or not has_links:
        return UNLINKED, UNLINKED
    wanted, given = graphs(destination, source)
    return wanted, given


def _ends_fit(slot: Pattern, item: Pattern) -> bool:
    """Whether the links at one node can meet those at the other, by their bounds and colours."""
    return slot.ends == item.ends or covers(slot.ends, item.ends, _end_takes)


def _end_takes(slot: End, item: End) -> bool:
    *kind, lower, upper = slot
    *other_kind, other_lower, other_upper = item
    return kind == other_kind and lower <= other_lower and other_upper <= upper


_Index = Mapping[tuple[object, ...], list[int]]


def _index(items: Sequence[Pattern]) -> _Index:
    """Item groups by kind; singletons also by their dims and by their number of dims."""
    index: dict[tuple[object, ...], list[int]] = {}
    for j, item in enumerate(items):
        kind = item.kind
        index.setdefault(kind, []).append(j)
        if not item.singleton:
            continue
        for place in _index_places(item.shapes[0]):
            index.setdefault((*kind, *place), []).append(j)
    return index


def _index_places(shape: Shape) -> list[tuple[object, ...]]:
    dims = shape.dims
    if wildcard_place(dims) is not None:
        return [("wild",)]
    return [("dims", dims), ("rank", len(dims))]


def _near(slot: Pattern, index: _Index) -> list[int]:
    """The item groups that ``slot`` could take, found without looking at all of them."""
    kind = slot.kind
    everything = index.get(kind, [])
    if not slot.singleton:
        return everything

    dims = slot.shapes[0].dims
    if wildcard_place(dims) is not None:
        return everything

    # Without variables the dims have to be the same, with them as many; an item's wildcard may
    # always come to that.
    has_variables = any(isinstance(dim, str) for dim in dims)
    place = ("rank", len(dims)) if has_variables else ("dims", dims)
    alike = index.get((*kind, *place), [])
    wild = index.get((*kind, "wild"), [])
    return sorted([*alike, *wild])
