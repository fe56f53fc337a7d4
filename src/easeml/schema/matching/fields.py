"""The values of one node against those of another: an assignment inside that of the nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import chain, product

from easeml.schema.matching.assignment import (
    Allowed,
    Assignment,
    Domain,
    Domains,
    Slots,
    State,
    common_values,
    united,
)
from easeml.schema.matching.budget import Budget
from easeml.schema.matching.cover import dealt
from easeml.schema.matching.patterns import LOCAL, Pattern
from easeml.schema.matching.shapes import Bindings, Shape

Alternatives = Callable[[Shape, Shape], tuple[Bindings, ...]]


class Fields:
    """Whether a destination's node takes a source's node of the same kind, value by value."""

    def __init__(self, slot: Pattern, item: Pattern, find: Alternatives, budget: Budget):
        self.find = find
        self.budget = budget
        self.slots = _places(slot.shapes)
        self.items = _places(item.shapes)
        self.slot_shapes = list(self.slots)
        self.item_shapes = list(self.items)
        self.keys = slot.keys
        self.outer: Domains = {}

    @cached_property
    def mentions(self) -> Mapping[str, Domain]:
        """Every value that a key could be given, by key; local keys included."""
        return mentions_of(self.slot_shapes, self.item_shapes, self.find)

    @cached_property
    def _assignment(self) -> Assignment:
        slots = [self._slots(shape, len(places)) for shape, places in self.slots.items()]
        given = list(map(len, self.items.values()))
        return Assignment(
            slots=slots,
            given=given,
            homeless=[True] * len(given),
            support=self._field_support,
            budget=self.budget,
        )

    @cached_property
    def _shared_keys(self) -> dict[int, list[str]]:
        """By slot group that uses some: the keys that other nodes use, too."""
        shared: dict[int, list[str]] = {}
        for number, shape in enumerate(self.slot_shapes):
            keys = list(filter(self.keys.__contains__, shape.used_keys()))
            if keys:
                shared[number] = keys
        return shared

    def _slots(self, shape: Shape, wanted: int) -> Slots:
        fits = tuple(j for j, item in enumerate(self.item_shapes) if self.find(shape, item))
        local = tuple(key for key in shape.used_keys() if key.startswith(LOCAL))
        mentions = {key: self.mentions[key] for key in local if key in self.mentions}
        return Slots(
            wanted=wanted,
            keys=local,
            candidates=fits,
            mentions=mentions,
        )

    def _field_support(self, slot: int, item: int, domains: Domains) -> Allowed | None:
        found = self.find(self.slot_shapes[slot], self.item_shapes[item])
        every = {**self.outer, **domains} if domains else self.outer
        return consistent_values(found, every)

    def state(self, domains: Domains) -> State | None:
        """An assignment of the values under ``domains`` of the shared keys; None if there is none.

        The local keys are decided in it. Exact once every shared key has one value; before, a
        condition that must hold.
        """
        self.outer = {key: domains[key] for key in self.keys if key in domains}
        return next(self._assignment.solutions(), None)

    def support(self, domains: Domains) -> Allowed | None:
        """The values that shared keys may have, or None: the ``support`` of an ``Assignment``."""
        state = self.state(domains)
        if state is None:
            return None

        allowed: dict[str, Domain | None] = {}
        for number, keys in self._shared_keys.items():
            # A key has to suit every value that uses it.
            for key, values in self._values_at(number, keys).items():
                allowed[key] = common_values(allowed.get(key), values)
        return allowed

    def _values_at(self, number: int, keys: Sequence[str]) -> dict[str, Domain | None]:
        """The values that the candidates of one slot group give these keys."""
        shape = self.slot_shapes[number]
        found = []
        for item in self._assignment.slots[number].candidates:
            bindings = self.find(shape, self.item_shapes[item])
            values = consistent_values(bindings, self.outer)
            if values is not None:
                found.append(values)
        return united(keys, found)

    def pairs(self, domains: Domains) -> tuple[list[tuple[int, int]], Domains]:
        """Which value meets which under decided shared keys, and the local keys.

        Values are given as places in the patterns.
        """
        state = self.state(domains)
        assert state is not None, "the caller has found that they fit"

        left = list(map(iter, self.items.values()))
        pairs = dealt(self.slots.values(), left, state.flow)
        return list(pairs), state.domains


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
    for slot, item in product(slots, items):
        for bindings in find(slot, item):
            _note(found, bindings)
    return found


def _note(found: dict[str, Domain], bindings: Bindings) -> None:
    for key, value in bindings.items():
        found.setdefault(key, {})[value] = None


def consistent_values(found: Sequence[Bindings], domains: Domains) -> Allowed | None:
    """The values by key of those alternatives that ``domains`` allow; None if they allow none.

    A key that one of the allowed alternatives leaves free may have any value: None.
    """
    allowed = [bindings for bindings in found if _is_allowed(bindings, domains)]
    if not allowed:
        return None
    if len(allowed) == 1:
        return _values(allowed[0])  # the usual case, and the fastest
    return united(chain(*allowed), map(_values, allowed))


def _values(bindings: Bindings) -> dict[str, Domain | None]:
    return {key: {value: None} for key, value in bindings.items()}


def _is_allowed(bindings: Bindings, domains: Domains) -> bool:
    for key, value in bindings.items():
        if key in domains and value not in domains[key]:
            return False
    return True
