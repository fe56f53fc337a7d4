"""Assigning items to slots whose shared keys (variables, classes) must agree.

Slots and items come in groups of like members. A slot group supports an item group under some
values of its keys. Values that a slot cannot support are struck off, and pairs that have no value
left, until nothing changes (generalised arc consistency); then a bipartite matching tells whether
all can be shared out. Only what is still undecided is tried out, the key with the fewest values
first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from easeml.schema.matching.budget import Budget
from easeml.schema.matching.cover import Flow, cover
from easeml.schema.structure import Dim

Domain = dict[Dim, None]  # the values a key may still have, in a fixed order
Domains = Mapping[str, Domain]  # a key that is not there may have any value
Allowed = Mapping[str, Domain | None]  # the values that a key may have; None: any
Support = Callable[[int, int, Domains], Allowed | None]


@dataclass(frozen=True)
class Slots:
    """A group of like slots.

    ``wanted``: how many. ``keys``: those shared with others or among themselves. ``candidates``:
    the item groups that may fit. ``mentions``: every value that a key could be given by one of
    them.
    """

    wanted: int
    keys: tuple[str, ...]
    candidates: tuple[int, ...]
    mentions: Mapping[str, Domain]


@dataclass(frozen=True)
class State:
    """What is still possible. ``flow``: how the items may be shared out, once that was asked."""

    domains: dict[str, Domain]
    candidates: list[Sequence[int]]
    flow: Flow = field(default_factory=list)


_Choice = tuple[State, Sequence[int]]  # and the slot groups that have to be looked at again


class Assignment:
    """The items that have to be shared out to the slots.

    ``support(slot group, item group, domains)`` says whether they fit, and which values of the
    slot's keys that allows (None: any). ``given``: members of each item group. ``homeless``:
    whether each of them needs a slot.
    """

    def __init__(
        self,
        slots: Sequence[Slots],
        given: Sequence[int],
        homeless: Sequence[bool],
        support: Support,
        budget: Budget,
    ):
        self.slots = slots
        self.given = given
        self.homeless = homeless
        self.support = support
        self.budget = budget
        self.wanted = [slot.wanted for slot in slots]
        self.candidates: list[Sequence[int]] = [slot.candidates for slot in slots]
        self.users = _users_of_keys(slots)

    def is_covered(self) -> bool:
        """Whether all items could be shared out if the keys had not to agree."""
        return cover(self.wanted, self.given, self.candidates, self.homeless) is not None

    def solutions(self) -> Iterator[State]:
        """Every way to give the keys values under which all items can be shared out."""
        wanted = [number for number, count in enumerate(self.wanted) if count]
        first = iter([(self._start(), wanted)])

        # A search in depth: on the stack are the choices that are left at each level.
        stack: list[Iterator[_Choice]] = [first]
        while stack:
            choice = next(stack[-1], None)
            if choice is None:
                stack.pop()
                continue

            state = self._propagated(*choice)
            if state is None:
                continue

            key = _narrowest_key(state.domains)
            if key is None:
                yield state
            else:
                stack.append(self._choices(state, key))

    def _start(self) -> State:
        """Every candidate, and every value that one of them mentions."""
        domains: dict[str, Domain] = {}
        for slot in self.slots:
            for key, values in slot.mentions.items():
                domains.setdefault(key, {}).update(values)
        return State(domains, self.candidates)

    def _choices(self, state: State, key: str) -> Iterator[_Choice]:
        """Every value of a key."""
        # What the flow gives the key comes first: with it most of the flow can stay.
        values = self._flowing_value(state, key) | state.domains[key]
        for value in values:
            domains = {**state.domains, key: {value: None}}
            child = State(domains, list(state.candidates), state.flow)
            yield child, self.users[key]

    def _flowing_value(self, state: State, key: str) -> Domain:
        """A value of a key that a pair of the flow needs; none where all pairs leave it free."""
        for slot in self.users[key]:
            for item in state.flow[slot]:
                supported = self.support(slot, item, state.domains)
                assert supported is not None, "the flow has only pairs that fit"
                values = supported.get(key)
                if values:
                    return dict.fromkeys([next(iter(values))])
        return {}

    def _propagated(self, state: State, dirty: Sequence[int]) -> State | None:
        """What is possible in all of its parts, or None if nothing is."""
        domains = dict(state.domains)
        candidates = list(state.candidates)

        queue = dict.fromkeys(dirty)
        while queue:
            number = next(iter(queue))
            del queue[number]

            allowed = self._supported(number, candidates, domains)
            if not candidates[number]:
                return None

            narrowed = _narrow(domains, allowed)
            if narrowed is None:
                return None
            # A key with fewer values may cost its other users candidates.
            for key in narrowed:
                queue.update(dict.fromkeys(self.users[key]))

        left = sum(map(len, candidates))
        self.budget.spend(1 + left // 8)
        flow = cover(self.wanted, self.given, candidates, self.homeless, state.flow)
        return None if flow is None else State(domains, candidates, flow)

    def _supported(
        self, number: int, candidates: list[Sequence[int]], domains: Domains
    ) -> dict[str, Domain | None]:
        """Strike off the items that a slot group does not support.

        Returns the values that its keys may have.
        """
        kept = []
        found = []
        self.budget.spend(len(candidates[number]))
        for item in candidates[number]:
            values = self.support(number, item, domains)
            if values is not None:
                kept.append(item)
                found.append(values)

        candidates[number] = kept
        return united(self.slots[number].keys, found)


def united(keys: Iterable[str], found: Iterable[Allowed]) -> dict[str, Domain | None]:
    """By key the values that some of ``found`` allow; what one leaves free (None) stays free."""
    merged: dict[str, Domain | None] = {key: {} for key in keys}
    for allowed in found:
        for key, so_far in merged.items():
            values = allowed.get(key)
            if so_far is None or values is None:
                merged[key] = None
            else:
                so_far.update(values)
    return merged


def _users_of_keys(slots: Sequence[Slots]) -> dict[str, list[int]]:
    """The slot groups that use each key."""
    users: dict[str, list[int]] = {}
    for number, slot in enumerate(slots):
        for key in slot.keys:
            users.setdefault(key, []).append(number)
    return users


def _narrowest_key(domains: Domains) -> str | None:
    """The undecided key with the fewest values; None if all are decided."""
    undecided = {key: len(domain) for key, domain in domains.items() if len(domain) > 1}
    return min(undecided, key=undecided.__getitem__, default=None)


def _narrow(domains: dict[str, Domain], allowed: Allowed) -> list[str] | None:
    """Strike off the values that are not allowed.

    Returns the keys that lost some; None if one of them has lost all.
    """
    narrowed = []
    for key, values in allowed.items():
        before = domains.get(key)
        after = common_values(before, values)
        if before is None or after is None:
            continue

        if not after:
            return None
        if len(after) < len(before):
            domains[key] = after
            narrowed.append(key)
    return narrowed


def common_values(before: Domain | None, values: Domain | None) -> Domain | None:
    """The values that are in both; None stands for any value."""
    if before is None:
        return values
    if values is None:
        return before
    return {value: None for value in before if value in values}
