"""Sharing out items to slots: a bipartite matching of groups whose members are alike."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, compress, islice, pairwise
from typing import TypeVar

Flow = list[dict[int, int]]  # by slot group: item group -> how many of its members
_Step = tuple[int, int]
_Reached = dict[int, _Step | None]
_Wanted = TypeVar("_Wanted", bound=Hashable)
_Given = TypeVar("_Given", bound=Hashable)


def cover(
    wanted: Sequence[int],
    given: Sequence[int],
    candidates: Sequence[Sequence[int]],
    homeless: Sequence[bool],
    start: Sequence[Mapping[int, int]] = (),
) -> Flow | None:
    """Give each slot an item of its own, so that no homeless item is left; None if none can.

    ``wanted[i]``: members of slot group i. ``given[j]``: members of item group j.
    ``candidates[i]``: the item groups that slot group i takes. An item that is not homeless may be
    left over. ``start``: a flow to begin with, as far as it is still allowed.

    First the homeless items get slots, then the slots get items: an augmenting path never uncovers
    what is covered, so both hold in the end if they can (Mendelsohn and Dulmage 1958).
    """
    state = _State(wanted, given, candidates, homeless)
    state.take_over(start)
    if state.house_items() and state.fill_slots():
        return state.flow
    return None


def covers(
    wanted: Sequence[_Wanted], given: Sequence[_Given], takes: Callable[[_Wanted, _Given], bool]
) -> bool:
    """Whether each of ``wanted`` can have one of ``given`` that it takes, so that none is left."""
    slots = Counter(wanted)
    items = Counter(given)
    candidates = []
    for slot in slots:
        taken = [number for number, item in enumerate(items) if takes(slot, item)]
        candidates.append(taken)

    homeless = [True] * len(items)
    flow = cover(list(slots.values()), list(items.values()), candidates, homeless)
    return flow is not None


def slots_of_items(candidates: Sequence[Sequence[int]], items: int) -> list[list[int]]:
    """By item group: the slot groups that take it."""
    slots_of: list[list[int]] = [[] for _ in range(items)]
    for slot, taken in enumerate(candidates):
        for item in taken:
            slots_of[item].append(slot)
    return slots_of


def dealt(
    slots: Iterable[Iterable[_Wanted]], items: Sequence[Iterator[_Given]], flow: Flow
) -> Iterator[tuple[_Wanted, _Given]]:
    """Each slot with the item that a flow gives it, group by group; ``items`` keep what is left.

    A slot that may do without an item is left out where it gets none.
    """
    for members, units in zip(slots, flow, strict=True):
        given = [islice(items[item], count) for item, count in units.items()]
        yield from zip(members, chain(*given), strict=False)


class _State:
    """A flow with what is still free on both sides."""

    def __init__(
        self,
        wanted: Sequence[int],
        given: Sequence[int],
        candidates: Sequence[Sequence[int]],
        homeless: Sequence[bool],
    ):
        self.candidates = candidates
        self.homeless = homeless
        self.slots_of = slots_of_items(candidates, len(given))
        self.flow: Flow = [{} for _ in wanted]
        self.free_slots = list(wanted)
        self.free_items = list(given)
        # By item: the slots that hold some of it, in the order in which they got it.
        self.holders: list[dict[int, None]] = [{} for _ in given]

    def take_over(self, start: Sequence[Mapping[int, int]]) -> None:
        """Begin with what is still allowed of another flow."""
        for slot, units in enumerate(start):
            allowed = set(self.candidates[slot])
            for item, count in units.items():
                if item not in allowed:
                    continue
                self._add(slot, item, count)
                self.free_slots[slot] -= count
                self.free_items[item] -= count

    def house_items(self) -> bool:
        """Find slots for all homeless items; whether there are as many."""
        items = range(len(self.free_items))
        return all(map(self._house_all, compress(items, self.homeless)))

    def fill_slots(self) -> bool:
        """Find items for all slots; whether there are as many."""
        return all(map(self._fill_all, range(len(self.free_slots))))

    def _house_all(self, item: int) -> bool:
        while self.free_items[item]:
            if not self._house(item):
                return False
        return True

    def _fill_all(self, slot: int) -> bool:
        while self.free_slots[slot]:
            if not self._fill(slot):
                return False
        return True

    def _house(self, start: int) -> bool:
        """Find slots for some of the item ``start``, moving others.

        An item that has a home may lose its slot.
        """
        reached: _Reached = {start: None}  # item -> (item that pushes it out, of which slot)
        queue = deque([start])
        seen: set[int] = set()
        while queue:
            item = queue.popleft()
            for slot in self.slots_of[item]:
                if slot in seen:
                    continue
                seen.add(slot)

                step = (item, slot)
                room = self.free_slots[slot]
                if room:
                    self.free_slots[slot] -= self._push(step, reached, room)
                    return True

                for other in list(self.flow[slot]):
                    if other in reached:
                        continue
                    reached[other] = step
                    if not self.homeless[other]:
                        self._evict(step, reached, other)
                        return True
                    queue.append(other)

        return False

    def _evict(self, step: _Step, reached: _Reached, other: int) -> None:
        """Put an item into a slot for ``other``, which needs no slot and is free then."""
        _, slot = step
        amount = self._push(step, reached, self.flow[slot][other])
        self._add(slot, other, -amount)
        self.free_items[other] += amount

    def _push(self, step: _Step, reached: _Reached, room: int) -> int:
        """Put an item into a slot, what it leaves to the one that pushed it out, and so on."""
        path = _path(step, reached)
        start, _ = path[-1]
        gained = [(entered, mover) for mover, entered in path]
        lost = [(left, mover) for (mover, _), (_, left) in pairwise(path)]
        amount = self._shift(gained, lost, min(room, self.free_items[start]))
        self.free_items[start] -= amount
        return amount

    def _fill(self, start: int) -> bool:
        """Find items for some of the slot ``start``, taking them from slots that find others."""
        reached: _Reached = {start: None}  # slot -> (slot that takes from it, which item)
        queue = deque([start])
        seen: set[int] = set()
        while queue:
            slot = queue.popleft()
            for item in self.candidates[slot]:
                if item in seen:
                    continue
                seen.add(item)

                step = (slot, item)
                if self.free_items[item]:
                    self._pull(step, reached)
                    return True

                new = [other for other in self.holders[item] if other not in reached]
                reached.update(dict.fromkeys(new, step))
                queue += new

        return False

    def _pull(self, step: _Step, reached: _Reached) -> None:
        """Give an item to a slot, what that gives up to the one that takes it, and so on."""
        gained = _path(step, reached)
        start, _ = gained[-1]
        _, item = step
        lost = [(giver, given) for (giver, _), (_, given) in pairwise(gained)]
        amount = self._shift(gained, lost, min(self.free_items[item], self.free_slots[start]))
        self.free_items[item] -= amount
        self.free_slots[start] -= amount

    def _shift(self, gained: Sequence[_Step], lost: Sequence[_Step], most: int) -> int:
        """Move units from some pairs of slot and item to others; return how many.

        These are at most ``most``, and no more than each of the pairs that lose them has.
        """
        amount = min([most, *(self.flow[slot][item] for slot, item in lost)])
        for slot, item in gained:
            self._add(slot, item, amount)
        for slot, item in lost:
            self._add(slot, item, -amount)
        return amount

    def _add(self, slot: int, item: int, amount: int) -> None:
        count = self.flow[slot].get(item, 0) + amount
        if count:
            self.flow[slot][item] = count
            self.holders[item][slot] = None
            return

        self.flow[slot].pop(item, None)
        self.holders[item].pop(slot, None)


def _path(last: _Step, reached: _Reached) -> list[_Step]:
    """The steps that led to the last one, backwards: what was reached from nothing began them."""
    path = []
    step: _Step | None = last
    while step is not None:
        path.append(step)
        step = reached[step[0]]
    return path
