"""Assigning items to slots whose shared keys (variables, classes) must agree.

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
    """What is still possible."""

    domains: dict[str, Domain]
    candidates: list[Sequence[int]]
    flow: Flow | None = None


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
        self.users = _users_of_keys(slots)

    def solutions(self) -> Iterator[State]:
        """Every way to give the keys values under which all items can be shared out.

        Each has a ``flow``.
        """
        everything = range(len(self.slots))
        first = iter([(self._start(), everything)])

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
                continue
            stack.append(self._choices(state, key))

    def _start(self) -> State:
        """Every candidate, and every value that one of them mentions."""
        domains: dict[str, Domain] = {}
        for slot in self.slots:
            for key, values in slot.mentions.items():
                domains.setdefault(key, {}).update(values)

        candidates: list[Sequence[int]] = [slot.candidates for slot in self.slots]
        return State(domains, candidates)

    def _choices(self, state: State, key: str) -> Iterator[_Choice]:
        """Every value of a key."""
        users = self.users.get(key, ())
        values: Domain = {}

        # What the flow gives the key comes first: with it most of the flow can stay.
        flowing = next(self._flowing_values(state, key), None)
        if flowing is not None:
            values[flowing] = None
        values.update(state.domains[key])

        for value in values:
            domains = {**state.domains, key: {value: None}}
            child = State(domains, list(state.candidates), state.flow)
            yield child, users

    def _flowing_values(self, state: State, key: str) -> Iterator[Dim]:
        """The values that the flow's pairs of slots and items support for a key."""
        flow = state.flow or []
        for slot in self.users.get(key, ()):
            for item in flow[slot]:
                supported = self.support(slot, item, state.domains) or {}
                yield from supported.get(key) or ()

    def _propagated(self, state: State, dirty: Sequence[int]) -> State | None:
        """What is possible in all of its parts, or None if nothing is."""
        domains = dict(state.domains)
        candidates = list(state.candidates)

        queue = dict.fromkeys(dirty)
        while queue:
            number = next(iter(queue))
            del queue[number]
            if not self.slots[number].wanted:
                continue

            allowed = self._supported(number, candidates, domains)
            if not candidates[number]:
                return None

            narrowed = _narrow(domains, allowed)
            if narrowed is None:
                return None
            # A key with fewer values may cost its other users candidates.
            for key in narrowed:
                queue.update(dict.fromkeys(self.users[key]))

        left = sum(len(items) for items in candidates)
        self.budget.spend(1 + left // 8)
        flow = cover(self.wanted, self.given, candidates, self.homeless, state.flow)
        if flow is None:
            return None
        return State(domains, candidates, flow)

    def _supported(
        self, number: int, candidates: list[Sequence[int]], domains: Domains
    ) -> dict[str, Domain | None]:
        """Strike off the items that a slot group does not support.

        Returns the values that its keys may have.
        """
        kept = []
        allowed: dict[str, Domain | None] = {key: {} for key in self.slots[number].keys}
        self.budget.spend(len(candidates[number]))
        for item in candidates[number]:
            found = self.support(number, item, domains)
            if found is None:
                continue
            kept.append(item)
            widen(allowed, found)

        candidates[number] = kept
        return allowed


def widen(allowed: dict[str, Domain | None], more: Mapping[str, Domain | None]) -> None:
    """Add further values by key to those allowed; what one of them leaves free (None) stays free."""
    for key, so_far in allowed.items():
        values = more.get(key)
        if so_far is None or values is None:
            allowed[key] = None
        else:
            so_far.update(values)


def _users_of_keys(slots: Sequence[Slots]) -> dict[str, list[int]]:
    """The slot groups that use each key."""
    users: dict[str, list[int]] = {}
    for number, slot in enumerate(slots):
        for key in slot.keys:
            users.setdefault(key, []).append(number)
    return users


def _narrowest_key(domains: Domains) -> str | None:
    """The undecided key with the fewest values; None if all are decided."""
    undecided = [key for key, domain in domains.items() if len(domain) > 1]
    if not undecided:
        return None
    return min(undecided, key=lambda key: len(domains[key]))


def _narrow(domains: dict[str, Domain], allowed: Mapping[str, Domain | None]) -> list[str] | None:
    """Strike off the values that are not allowed.

    Returns the keys that lost some; None if one of them has lost all.
    """
    narrowed = []
    for key, values in allowed.items():
        before = domains.get(key)
        if before is None or values is None:
            continue

        after = {value: None for value in before if value in values}
        if not after:
            return None
        if len(after) < len(before):
            domains[key] = after
            narrowed.append(key)
    return narrowed
