"""The whole problem of a match: nodes of destinations, one or two sides, against nodes of sources."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice

from easeml.schema.matching.assignment import Assignment, Domain, Domains, Slots, State
from easeml.schema.matching.budget import Budget
from easeml.schema.matching.cover import cover
from easeml.schema.matching.fields import Fields, consistent_values, mentions_of
from easeml.schema.matching.links import Candidates, Graph, graphs, pair_components
from easeml.schema.matching.patterns import Member, Pattern, destination_groups, source_groups
from easeml.schema.matching.shapes import alternatives
from easeml.schema.structure import Structure

Pair = tuple[Member, Member]  # a destination's node and the source's node that it takes


@dataclass(frozen=True)
class Solution:
    """Every pair of nodes, the pairs of their values by place in the members' ``fields``, and the
    decided keys.
    """

    pairs: list[Pair]
    fields: list[list[tuple[int, int]]]
    decided: list[Mapping[str, object]]  # by pair: key -> value, local keys under their real names


class Problem:
    """``sides``: destination and source of each side. Keys in ``loose`` need not agree; without
    ``linked``, links are not looked at: what does not match then does not for other reasons."""

    def __init__(
        self,
        sides: Sequence[tuple[Structure, Structure]],
        budget: Budget,
        *,
        loose: Collection[str] = (),
        linked: bool = True,
    ):
        self.budget = budget
        graph_pairs = [_graphs(*side) if linked else (None, None) for side in sides]
        self.graphs = graph_pairs
        self.wanted = destination_groups([d for d, _ in sides], [d for d, _ in graph_pairs], loose)
        self.given = source_groups([s for _, s in sides], [s for _, s in graph_pairs])
        self.slots, self.items = list(self.wanted), list(self.given)
        self.keys = [slot.keys for slot in self.slots]
        self.find = cache(alternatives)
        self._fields: dict[tuple[int, int], Fields] = {}
        self.fitting = self._fitting()
        self.homes: list[list[int]] = [[] for _ in self.items]
        for i, slot in enumerate(self.slots):
            for j in self.fitting[i] if slot.repeat else ():
                self.homes[j].append(i)
        self.assignment = Assignment(
            [self._slots(i) for i in range(len(self.slots))],
            [len(members) for members in self.given.values()],
            [not homes for homes in self.homes],
            self._support,
            budget,
        )

    def _fitting(self) -> list[list[int]]:
        """The item groups that each slot group may take, as far as that depends on the two alone."""
        index = _index(self.items)
        fitting = []
        for i, slot in enumerate(self.slots):
            near = _near(slot, index)
            self.budget.spend(1 + 2 * len(near))
            fitting.append([j for j in near if self._fit_alone(i, j)])
        return fitting

    def _fit_alone(self, i: int, j: int) -> bool:
        slot, item = self.slots[i], self.items[j]
        if item.repeat and slot.repeat not in (item.repeat, "*"):
            return False
        if slot.singleton:
            return bool(self.find(slot.shapes[0], item.shapes[0]))
        return _ends_fit(slot, item) and self.fields(i, j).state({}) is not None

    def fields(self, i: int, j: int) -> Fields:
        """The values of slot group i against those of item group j."""
        if (i, j) not in self._fields:
            self._fields[i, j] = Fields(self.slots[i], self.items[j], self.find, self.budget)
        return self._fields[i, j]

    def _slots(self, i: int) -> Slots:
        slot, keys = self.slots[i], self.keys[i]
        if (
            slot.repeat
        ):  # its copies have keys of their own, and those beyond the first are never needed
            return Slots(
                len(self.wanted[slot]) if slot.repeat == "+" else 0, (), tuple(self.fitting[i]), {}
            )
        mentions: dict[str, Domain] = {}
        if keys:
            self.budget.spend(len(self.fitting[i]))
            for j in self.fitting[i]:
                found = mentions_of(slot.shapes, self.items[j].shapes, self.find)
                for key in keys:
                    if key in found:
                        mentions.setdefault(key, {}).update(found[key])
        return Slots(len(self.wanted[slot]), keys, tuple(self.fitting[i]), mentions)

    def _support(self, i: int, j: int, domains: Domains) -> Mapping[str, Domain | None] | None:
        if not self.keys[i]:
            return {}  # it fits, as ``fitting`` has found
        slot = self.slots[i]
        if slot.singleton:
            return consistent_values(self.find(slot.shapes[0], self.items[j].shapes[0]), domains)
        return self.fields(i, j).support(domains)

    def solution(self) -> Solution | None:
        """A match, always the same for the same schemas; None if there is none.

        Raises ``Undecided``.
        """
        for state in self.assignment.solutions():
            linked = self._linked_pairs(state)
            if linked is not None:
                return self._solved(state, [*self._free_pairs(state), *linked])
        return None

    def _linked_pairs(self, state: State) -> list[Pair] | None:
        """Pairs of the nodes in connected components, or None if links do not meet links."""
        pairs: list[Pair] = []
        for side, (wanted, given) in enumerate(self.graphs):
            if wanted is None or given is None:
                continue
            slot_of = {
                m.name: (i, m)
                for i, p in enumerate(self.slots)
                for m in self.wanted[p]
                if m.side == side
            }
            item_of = {
                m.name: m for members in self.given.values() for m in members if m.side == side
            }

            @cache
            def group(i: int) -> Candidates:
                return {
                    m.name: None for j in state.candidates[i] for m in self.given[self.items[j]]
                }

            mapping = pair_components(
                wanted, given, lambda name, of=slot_of, group=group: group(of[name][0]), self.budget
            )
            if mapping is None:
                return None
            pairs += [(slot_of[name][1], item_of[other]) for name, other in mapping.items()]
        return pairs

    def _free_pairs(self, state: State) -> Iterator[Pair]:
        """Pairs of the nodes that no link joins to others, as the flow shares them out; the rest
        goes to repeated nodes."""
        left = [iter(self._free(self.given[item])) for item in self.items]
        for i, units in enumerate(state.flow or []):
            takers = iter(self._free(self.wanted[self.slots[i]], destination=True))
            for j, count in units.items():
                yield from (
                    (taker, item)
                    for item, taker in zip(islice(left[j], count), takers, strict=False)
                )
        for j, rest in enumerate(left):
            for member in rest:
                yield self.wanted[self.slots[self.homes[j][0]]][0], member

    def _free(self, members: list[Member], *, destination: bool = False) -> list[Member]:
        graph = self.graphs[members[0].side][0 if destination else 1]
        if graph is None:
            return members
        joined = {name for component in graph.components for name in component}
        return [member for member in members if member.name not in joined]

    def _solved(self, state: State, pairs: list[Pair]) -> Solution:
        slot_of = {(m.side, m.name): i for i, p in enumerate(self.slots) for m in self.wanted[p]}
        item_of = {(m.side, m.name): j for j, p in enumerate(self.items) for m in self.given[p]}
        decided = {
            key: next(iter(domain)) for key, domain in state.domains.items() if len(domain) == 1
        }
        fields, keys = [], []
        met = cache(lambda i, j: self.fields(i, j).pairs(state.domains))
        for slot, item in pairs:
            i, j = slot_of[slot.side, slot.name], item_of[item.side, item.name]
            if self.slots[i].singleton:
                fields.append([(0, 0)])
                keys.append(decided)
                continue
            places, local = met(i, j)
            fields.append(places)
            keys.append(
                {
                    **decided,
                    **{slot.local[key]: next(iter(domain)) for key, domain in local.items()},
                }
            )
        return Solution(pairs, fields, keys)


def _graphs(destination: Structure, source: Structure) -> tuple[Graph, Graph] | tuple[None, None]:
    if not any(node.links for schema in (destination, source) for node in schema.nodes.values()):
        return None, None
    wanted, given = graphs(destination, source)
    return wanted, given


def _ends_fit(slot: Pattern, item: Pattern) -> bool:
    """Whether the links at one node can meet those at the other, as far as bounds and colours tell."""
    if len(slot.ends) != len(item.ends):
        return False
    if not slot.ends:
        return True
    wanted, given = (list(dict.fromkeys(pattern.ends)) for pattern in (slot, item))
    candidates = [
        [
            j
            for j, other in enumerate(given)
            if end[:3] == other[:3] and end[3] <= other[3] and other[4] <= end[4]
        ]
        for end in wanted
    ]
    counts = [
        [pattern.ends.count(end) for end in ends]
        for pattern, ends in ((slot, wanted), (item, given))
    ]
    return cover(counts[0], counts[1], candidates, [True] * len(given)) is not None


_Index = Mapping[tuple[object, ...], list[int]]


def _index(items: Sequence[Pattern]) -> _Index:
    """Item groups by kind; singletons also by their dims and by their number of dims."""
    index: dict[tuple[object, ...], list[int]] = {}
    for j, item in enumerate(items):
        index.setdefault(item.kind, []).append(j)
        if item.singleton:
            dims = item.shapes[0].dims
            wild = any(isinstance(dim, str) and dim[-1] in "?+*" for dim in dims)
            for place in (("wild",),) if wild else (("dims", dims), ("rank", len(dims))):
                index.setdefault((*item.kind, *place), []).append(j)
    return index


def _near(slot: Pattern, index: _Index) -> list[int]:
    """The item groups that ``slot`` could take, found without looking at all of them."""
    if not slot.singleton:
        return index.get(slot.kind, [])
    dims = slot.shapes[0].dims
    names = [dim for dim in dims if isinstance(dim, str)]
    if any(name[-1] in "?+*" for name in names):
        return index.get(slot.kind, [])
    place = ("rank", len(dims)) if names else ("dims", dims)
    return sorted([*index.get((*slot.kind, *place), []), *index.get((*slot.kind, "wild"), [])])
