"""Assigning items to slots whose shared keys (variables, classes) must agree: propagation first,
then search.

Slots and items come in groups of like members. A slot group supports an item group under some
values of its keys. Values that a slot cannot support are struck off, and pairs that have no value
left, until nothing changes (generalised arc consistency); then a bipartite matching tells whether
all can be shared out. Only what is still undecided is tried out, the key with the fewest values
first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from easeml.schema.matching.budget import Budget
from easeml.schema.matching.cover import Flow, cover
from easeml.schema.structure import Dim

Domain = dict[Dim, None]  # the values a key may still have, in a fixed order
Domains = Mapping[str, Domain]  # a key that is not there may have any value
Support = Callable[[int, int, Domains], "Mapping[str, Domain | None] | None"]


@dataclass(frozen=True)
class Slots:
    """A group of like slots. ``wanted``: how many. ``keys``: those shared with others or among
    themselves.

    ``candidates``: the item groups that may fit. ``mentions``: every value that a key could be
    given by one of them.
    """

    wanted: int
    keys: tuple[str, ...]
    candidates: tuple[int, ...]
    mentions: Mapping[str, Domain]


@dataclass(frozen=True)
class State:
    """What is still possible."""

    domains: dict[str, Domain]
    candidates: list[Sequence[int]]
    flow: Flow | None = None


class Assignment:
    """``support(slot group, item group, domains)`` says whether they fit, and which values of the
    slot's keys that allows (None: any). ``given``: members of each item group. ``homeless``:
    whether each of them needs a slot."""

    def __init__(
        self,
        slots: Sequence[Slots],
        given: Sequence[int],
        homeless: Sequence[bool],
        support: Support,
        budget: Budget,
    ):
        self.slots, self.given, self.homeless = slots, given, homeless
        self.support, self.budget = support, budget
        self.users: dict[str, list[int]] = {}
        for number, slot in enumerate(slots):
            for key in slot.keys:
                self.users.setdefault(key, []).append(number)

    def solutions(self) -> Iterator[State]:
        """Every way to give the keys values under which all items can be shared out.

        Each has a ``flow``.
        """
        domains: dict[str, Domain] = {}
        for slot in self.slots:
            for key, values in slot.mentions.items():
                domains.setdefault(key, {}).update(values)
        start = State(domains, [slot.candidates for slot in self.slots])
        everything = range(len(self.slots))
        stack: list[Iterator[tuple[State, Sequence[int]]]] = [iter([(start, everything)])]
        while stack:
            following = next(stack[-1], None)
            if following is None:
                stack.pop()
                continue
            state = self._propagated(*following)
            if state is None:
                continue
            sizes = {key: len(domain) for key, domain in state.domains.items() if len(domain) > 1}
            if not sizes:
                yield state
                continue
            key = min(sizes, key=lambda key, sizes=sizes: sizes[key])
            stack.append(self._choices(state, key))

    def _choices(self, state: State, key: str) -> Iterator[tuple[State, Sequence[int]]]:
        """Every value of a key.

        That which the flow gives it comes first: with it most of the flow can stay.
        """
        flow = state.flow or []
        flowing = [
            value
            for slot in self.users.get(key, ())
            for item in flow[slot]
            for value in (self.support(slot, item, state.domains) or {}).get(key) or ()
        ]
        for value in dict.fromkeys([*flowing[:1], *state.domains[key]]):
            child = State({**state.domains, key: {value: None}}, list(state.candidates), state.flow)
            yield child, self.users.get(key, ())

    def _propagated(self, state: State, dirty: Sequence[int]) -> State | None:
        """What is possible in all of its parts, or None if nothing is."""
        domains, candidates = dict(state.domains), list(state.candidates)
        queue = dict.fromkeys(dirty)
        while queue:
            number = next(iter(queue))
            del queue[number]
            slot = self.slots[number]
            if not slot.wanted:
                continue
            allowed = self._supported(number, candidates, domains)
            if not candidates[number]:
                return None
            for key, values in allowed.items():
                before = domains.get(key)
                if before is None or values is None:
                    continue
                after = {value: None for value in before if value in values}
                if not after:
                    return None
                if len(after) < len(before):
                    domains[key] = after
                    queue.update(dict.fromkeys(self.users[key]))
        self.budget.spend(1 + sum(map(len, candidates)) // 8)
        wanted = [slot.wanted for slot in self.slots]
        flow = cover(wanted, self.given, candidates, self.homeless, state.flow)
        return None if flow is None else State(domains, candidates, flow)

    def _supported(
        self, number: int, candidates: list[Sequence[int]], domains: Domains
    ) -> dict[str, Domain | None]:
        """Strike off the items that a slot group does not support; return the values its keys may
        have.
        """
        kept = []
        allowed: dict[str, Domain | None] = {key: {} for key in self.slots[number].keys}
        self.budget.spend(len(candidates[number]))
        for item in candidates[number]:
            found = self.support(number, item, domains)
            if found is None:
                continue
            kept.append(item)
            for key, so_far in allowed.items():
                values = found.get(key)
                if so_far is None or values is None:
                    allowed[key] = None
                else:
                    so_far.update(values)
        candidates[number] = kept
        return allowed
