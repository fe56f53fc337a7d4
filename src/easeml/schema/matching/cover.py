"""Sharing out items to slots: a bipartite matching of groups whose members are alike."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

Flow = list[dict[int, int]]  # by slot group: item group -> how many of its members


def cover(
    wanted: Sequence[int],
    given: Sequence[int],
    candidates: Sequence[Sequence[int]],
    homeless: Sequence[bool],
    start: Flow | None = None,
) -> Flow | None:
    """Give each of the ``wanted[i]`` members of slot group i an item of its own, so that no
    homeless item is left.

    ``given[j]``: members of item group j. ``candidates[i]``: the item groups that slot group i
    takes. An item that is not homeless may be left over. ``start``: a flow to begin with, as far as
    it is still allowed.

    First the homeless items get slots, then the slots get items: an augmenting path never uncovers
    what is covered, so both hold in the end if they can (Mendelsohn and Dulmage 1958). Returns None
    if they cannot.
    """
    flow: Flow = [{} for _ in wanted]
    free_slots, free_items = list(wanted), list(given)
    if start is not None:
        for slot, units in enumerate(start):
            allowed = set(candidates[slot])
            for item, count in units.items():
                if item in allowed:
                    flow[slot][item] = count
                    free_slots[slot] -= count
                    free_items[item] -= count
    slots_of: list[list[int]] = [[] for _ in given]
    for slot, items in enumerate(candidates):
        for item in items:
            slots_of[item].append(slot)
    state = _State(flow, free_slots, free_items)
    for item, alone in enumerate(homeless):
        while alone and free_items[item]:
            if not state.house(item, slots_of, homeless):
                return None
    for slot in range(len(wanted)):
        while free_slots[slot]:
            if not state.fill(slot, candidates):
                return None
    return flow


class _State:
    """A flow with what is still free on both sides."""

    def __init__(self, flow: Flow, free_slots: list[int], free_items: list[int]):
        self.flow, self.free_slots, self.free_items = flow, free_slots, free_items
        self.holders: list[dict[int, None]] = [
            {} for _ in free_items
        ]  # slots that hold some of the item
        for slot, units in enumerate(flow):
            for item in units:
                self.holders[item][slot] = None

    def house(
        self, start: int, slots_of: Sequence[Sequence[int]], homeless: Sequence[bool]
    ) -> bool:
        """Find slots for some of the item ``start``, moving others; one with a home may lose its
        slot.
        """
        reached: dict[int, tuple[int, int]] = {}  # item -> (item that pushes it out, of which slot)
        queue, seen = deque([start]), set()
        while queue:
            item = queue.popleft()
            for slot in slots_of[item]:
                if slot in seen:
                    continue
                seen.add(slot)
                if self.free_slots[slot]:
                    amount = self._push(start, item, slot, reached, self.free_slots[slot])
                    self.free_slots[slot] -= amount
                    return True
                for other in list(self.flow[slot]):
                    if other == start or other in reached:
                        continue
                    reached[other] = (item, slot)
                    if not homeless[other]:
                        pusher, place = reached[other]
                        amount = self._push(start, pusher, place, reached, self.flow[place][other])
                        self._add(place, other, -amount)
                        self.free_items[other] += amount
                        return True
                    queue.append(other)
        return False

    def _push(
        self, start: int, item: int, slot: int, reached: Mapping[int, tuple[int, int]], room: int
    ) -> int:
        """Put ``item`` into ``slot``, what it leaves to the one that pushed it out, and so on."""
        path = [(item, slot)]
        while path[-1][0] != start:
            path.append(reached[path[-1][0]])
        amount = min(
            room,
            self.free_items[start],
            *(self.flow[path[i + 1][1]][path[i][0]] for i in range(len(path) - 1)),
        )
        for i, (mover, place) in enumerate(path):
            self._add(place, mover, amount)
            if i + 1 < len(path):
                self._add(path[i + 1][1], mover, -amount)
        self.free_items[start] -= amount
        return amount

    def fill(self, start: int, candidates: Sequence[Sequence[int]]) -> bool:
        """Find items for some of the slot ``start``, taking them from slots that find others."""
        reached: dict[int, tuple[int, int]] = {}  # slot -> (slot that takes from it, which item)
        queue, seen = deque([start]), set()
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

    def _pull(
        self, start: int, slot: int, item: int, reached: Mapping[int, tuple[int, int]]
    ) -> None:
        path = [(slot, item)]
        while path[-1][0] != start:
            path.append(reached[path[-1][0]])
        amount = min(
            self.free_items[item],
            self.free_slots[start],
            *(self.flow[path[i][0]][path[i + 1][1]] for i in range(len(path) - 1)),
        )
        for i, (taker, thing) in enumerate(path):
            self._add(taker, thing, amount)
            if i + 1 < len(path):
                self._add(taker, path[i + 1][1], -amount)
        self.free_items[item] -= amount
        self.free_slots[start] -= amount

    def _add(self, slot: int, item: int, amount: int) -> None:
        count = self.flow[slot].get(item, 0) + amount
        if count:
            self.flow[slot][item] = count
            self.holders[item][slot] = None
        else:
            self.flow[slot].pop(item, None)
            self.holders[item].pop(slot, None)
