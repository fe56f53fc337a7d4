"""Sharing out items to slots: a bipartite matching of groups whose members are alike."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from itertools import pairwise

Flow = list[dict[int, int]]  # by slot group: item group -> how many of its members
_Step = tuple[int, int]


def cover(
    wanted: Sequence[int],
    given: Sequence[int],
    candidates: Sequence[Sequence[int]],
    homeless: Sequence[bool],
    start: Flow | None = None,
) -> Flow | None:
    """Give each slot an item of its own, so that no homeless item is left; None if none can.

    ``wanted[i]``: members of slot group i. ``given[j]``: members of item group j.
    ``candidates[i]``: the item groups that slot group i takes. An item that is not homeless may be
    left over. ``start``: a flow to begin with, as far as it is still allowed.

    First the homeless items get slots, then the slots get items: an augmenting path never uncovers
    what is covered, so both hold in the end if they can (Mendelsohn and Dulmage 1958).
    """
    state = _State(wanted, given)
    if start is not None:
        state.take_over(start, candidates)

    slots_of = _slots_of_items(candidates, len(given))
    for item, needs_slot in enumerate(homeless):
        if needs_slot and not state.house_all(item, slots_of, homeless):
            return None

    for slot in range(len(wanted)):
        if not state.fill_all(slot, candidates):
            return None

    return state.flow


def _slots_of_items(candidates: Sequence[Sequence[int]], items: int) -> list[list[int]]:
    """By item group: the slot groups that take it."""
    slots_of: list[list[int]] = [[] for _ in range(items)]
    for slot, taken in enumerate(candidates):
        for item in taken:
            slots_of[item].append(slot)
    return slots_of


class _State:
    """A flow with what is still free on both sides."""

    def __init__(self, wanted: Sequence[int], given: Sequence[int]):
        self.flow: Flow = [{} for _ in wanted]
        self.free_slots = list(wanted)
        self.free_items = list(given)
        # By item: the slots that hold some of it, in the order in which they got it.
        self.holders: list[dict[int, None]] = [{} for _ in given]

    def take_over(self, start: Flow, candidates: Sequence[Sequence[int]]) -> None:
        """Begin with what is still allowed of another flow."""
        for slot, units in enumerate(start):
            allowed = set(candidates[slot])
            for item, count in units.items():
                if item not in allowed:
                    continue
                self._add(slot, item, count)
                self.free_slots[slot] -= count
                self.free_items[item] -= count

    def house_all(
        self, item: int, slots_of: Sequence[Sequence[int]], homeless: Sequence[bool]
    ) -> bool:
        """Find slots for all of an item; whether there are as many."""
        while self.free_items[item]:
            if not self._house(item, slots_of, homeless):
                return False
        return True

    def fill_all(self, slot: int, candidates: Sequence[Sequence[int]]) -> bool:
        """Find items for all of a slot; whether there are as many."""
        while self.free_slots[slot]:
            if not self._fill(slot, candidates):
                return False
        return True

    def _house(
        self, start: int, slots_of: Sequence[Sequence[int]], homeless: Sequence[bool]
    ) -> bool:
        """Find slots for some of the item ``start``, moving others.

        An item that has a home may lose its slot.
        """
        reached: dict[int, _Step] = {}  # item -> (item that pushes it out, of which slot)
        queue = deque([start])
        seen: set[int] = set()
        while queue:
            item = queue.popleft()
            for slot in slots_of[item]:
                if slot in seen:
                    continue
                seen.add(slot)

                room = self.free_slots[slot]
                if room:
                    self.free_slots[slot] -= self._push(start, item, slot, reached, room)
                    return True

                for other in list(self.flow[slot]):
                    if other == start or other in reached:
                        continue
                    reached[other] = (item, slot)
                    if not homeless[other]:
                        self._evict(start, item, slot, reached, other)
                        return True
                    queue.append(other)

        return False

    def _evict(
        self, start: int, item: int, slot: int, reached: Mapping[int, _Step], other: int
    ) -> None:
        """Put ``item`` into ``slot`` for ``other``, which needs no slot and is free then."""
        amount = self._push(start, item, slot, reached, self.flow[slot][other])
        self._add(slot, other, -amount)
        self.free_items[other] += amount

    def _push(
        self, start: int, item: int, slot: int, reached: Mapping[int, _Step], room: int
    ) -> int:
        """Put ``item`` into ``slot``, what it leaves to the one that pushed it out, and so on."""
        path = _path((item, slot), start, reached)
        amount = min(room, self.free_items[start])
        for (mover, _), (_, left) in pairwise(path):
            amount = min(amount, self.flow[left][mover])

        for mover, entered in path:
            self._add(entered, mover, amount)
        for (mover, _), (_, left) in pairwise(path):
            self._add(left, mover, -amount)

        self.free_items[start] -= amount
        return amount

    def _fill(self, start: int, candidates: Sequence[Sequence[int]]) -> bool:
        """Find items for some of the slot ``start``, taking them from slots that find others."""
        reached: dict[int, _Step] = {}  # slot -> (slot that takes from it, which item)
        queue = deque([start])
        seen: set[int] = set()
        while queue:
            slot = queue.popleft()
            for item in candidates[slot]:
                if item in seen:
                    continue
                seen.add(item)

                if self.free_items[item]:
                    self._pull(start, slot, item, reached)
                    return True

                for other in self.holders[item]:
                    if other != start and other not in reached:
                        reached[other] = (slot, item)
                        queue.append(other)

        return False

    def _pull(self, start: int, slot: int, item: int, reached: Mapping[int, _Step]) -> None:
        """Give ``item`` to ``slot``, what it gives up to the one that takes it, and so on."""
        path = _path((slot, item), start, reached)
        amount = min(self.free_items[item], self.free_slots[start])
        for (giver, _), (_, given) in pairwise(path):
            amount = min(amount, self.flow[giver][given])

        for taker, taken in path:
            self._add(taker, taken, amount)
        for (giver, _), (_, given) in pairwise(path):
            self._add(giver, given, -amount)

        self.free_items[item] -= amount
        self.free_slots[start] -= amount

    def _add(self, slot: int, item: int, amount: int) -> None:
        count = self.flow[slot].get(item, 0) + amount
        if count:
            self.flow[slot][item] = count
            self.holders[item][slot] = None
            return

        self.flow[slot].pop(item, None)
        self.holders[item].pop(slot, None)


def _path(first: _Step, start: int, reached: Mapping[int, _Step]) -> list[_Step]:
    """The steps by which ``start`` was followed to the first one, backwards."""
    path = [first]
    while path[-1][0] != start:
        before = reached[path[-1][0]]
        path.append(before)
    return path
