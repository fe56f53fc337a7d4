"""The values of one node against those of another: an assignment problem of its own inside that of
the nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from easeml.schema.matching.assignment import Assignment, Domain, Domains, Slots, State
from easeml.schema.matching.budget import Budget
from easeml.schema.matching.patterns import LOCAL, Pattern
from easeml.schema.matching.shapes import Bindings, Shape

Alternatives = Callable[[Shape, Shape], tuple[Bindings, ...]]


class Fields:
    """Whether a destination's node of one pattern takes a source's node of another, of the same
    kind.
    """

    def __init__(self, slot: Pattern, item: Pattern, find: Alternatives, budget: Budget):
        self.find, self.budget = find, budget
        self.slots, self.items = _places(slot.shapes), _places(item.shapes)
        self.slot_shapes, self.item_shapes = list(self.slots), list(self.items)
        self.keys = slot.keys
        self.outer: Domains = {}

    @cached_property
    def mentions(self) -> Mapping[str, Domain]:
        """Every value that a key could be given, by key; local keys included."""
        return mentions_of(self.slot_shapes, self.item_shapes, self.find)

    @cached_property
    def _assignment(self) -> Assignment:
        slots = []
        for shape, places in self.slots.items():
            fits = tuple(j for j, item in enumerate(self.item_shapes) if self.find(shape, item))
            keys = tuple(key for key in dict.fromkeys(shape.used_keys()) if key.startswith(LOCAL))
            mentions = {key: self.mentions[key] for key in keys if key in self.mentions}
            slots.append(Slots(len(places), keys, fits, mentions))
        given = [len(places) for places in self.items.values()]
        return Assignment(slots, given, [True] * len(given), self._field_support, self.budget)

    def _field_support(
        self, slot: int, item: int, domains: Domains
    ) -> Mapping[str, Domain | None] | None:
        return consistent_values(
            self.find(self.slot_shapes[slot], self.item_shapes[item]),
            {**self.outer, **domains} if domains else self.outer,
        )

    def state(self, domains: Domains) -> State | None:
        """An assignment of the values under ``domains`` of the shared keys, with the local keys
        decided; or None.

        Exact once every shared key has one value; before, a condition that must hold.
        """
        self.outer = {key: domains[key] for key in self.keys if key in domains}
        return next(self._assignment.solutions(), None)

    def support(self, domains: Domains) -> Mapping[str, Domain | None] | None:
        """As the ``support`` of an ``Assignment``: the values that the shared keys may have, or
        None.
        """
        state = self.state(domains)
        if state is None:
            return None
        allowed: dict[str, Domain | None] = {}
        for number, shape in enumerate(self.slot_shapes):
            shared = [key for key in dict.fromkeys(shape.used_keys()) if key in self.keys]
            if not shared:
                continue
            found: dict[str, Domain | None] = {key: {} for key in shared}
            for item in self._assignment.slots[number].candidates:
                values = consistent_values(self.find(shape, self.item_shapes[item]), self.outer)
                if values is not None:
                    _widen(found, values)
            for key, values in found.items():
                before = allowed.get(key)
                both = (
                    values
                    if before is None
                    else before
                    if values is None
                    else {v: None for v in before if v in values}
                )
                allowed[key] = both
        return allowed

    def pairs(self, domains: Domains) -> tuple[list[tuple[int, int]], Domains]:
        """Which value meets which, as places in the patterns, under decided shared keys; and the
        local keys.
        """
        state = self.state(domains)
        if (
            state is None or state.flow is None
        ):  # pragma: no cover  the caller has found that they fit
            raise AssertionError("the nodes do not fit")
        slot_places, item_places = list(self.slots.values()), [list(p) for p in self.items.values()]
        made = []
        for number, units in enumerate(state.flow):
            takers = iter(slot_places[number])
            for item, count in units.items():
                made += [(next(takers), item_places[item].pop(0)) for _ in range(count)]
        return made, state.domains


def _places(shapes: Sequence[Shape]) -> dict[Shape, list[int]]:
    places: dict[Shape, list[int]] = {}
    for place, shape in enumerate(shapes):
        places.setdefault(shape, []).append(place)
    return places


def mentions_of(
    slots: Sequence[Shape], items: Sequence[Shape], find: Alternatives
) -> dict[str, Domain]:
    """Every value that some item could give a key of some slot, by key."""
    found: dict[str, Domain] = {}
    for slot in slots:
        for item in items:
            for bindings in find(slot, item):
                for key, value in bindings.items():
                    found.setdefault(key, {})[value] = None
    return found


def consistent_values(
    found: Sequence[Bindings], domains: Domains
) -> Mapping[str, Domain | None] | None:
    """The values by key of those alternatives that ``domains`` allow; None for a key that one of
    them leaves free.

    None if no alternative is allowed.
    """
    allowed = [
        bindings
        for bindings in found
        if all(value in domains[key] for key, value in bindings.items() if key in domains)
    ]
    if not allowed:
        return None
    if len(allowed) == 1:
        return {key: {value: None} for key, value in allowed[0].items()}
    keys = dict.fromkeys(key for bindings in allowed for key in bindings)
    return {
        key: {b[key]: None for b in allowed} if all(key in b for b in allowed) else None
        for key in keys
    }


def _widen(found: dict[str, Domain | None], values: Mapping[str, Domain | None]) -> None:
    for key, so_far in found.items():
        more = values.get(key)
        if so_far is None or more is None:
            found[key] = None
        else:
            so_far.update(more)
