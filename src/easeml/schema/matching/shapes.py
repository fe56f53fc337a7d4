"""One value against another: which tensors and categories a place takes, under which bindings."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from easeml.schema.structure import (
    WILDCARDS,
    Dim,
    Field,
    Structure,
    wildcard_place,
)

PRIVATE = "~"  # starts every key that only one value uses: what it is bound to matters to no other
_TIMES = {"?": (0, 1), "+": (1, sys.maxsize), "*": (0, sys.maxsize)}  # least and most dims
Bindings = Mapping[str, Dim]  # key -> size, or name of the source's class


@dataclass(frozen=True, slots=True)
class Shape:
    """A value with all that matters for matching.

    ``dims``: of a tensor; of a category the size of its class. ``klass``: empty but for
    categories; the key of the class in a destination, its name in a source.
    """

    type: str
    optional: bool
    dims: tuple[Dim, ...] = ()
    klass: str = ""

    def used_keys(self) -> list[str]:
        """The variables and the class, also private ones, each once as they occur."""
        keys = {dim.rstrip(WILDCARDS): None for dim in self.dims if isinstance(dim, str)}
        if self.klass:
            keys[self.klass] = None
        return list(keys)

    def renamed(self, names: Mapping[str, str]) -> Shape:
        """The same shape with other keys."""
        dims = tuple(_renamed_dim(dim, names) for dim in self.dims)
        klass = names.get(self.klass, self.klass)
        return Shape(self.type, self.optional, dims, klass)


def _renamed_dim(dim: Dim, names: Mapping[str, str]) -> Dim:
    if not isinstance(dim, str):
        return dim

    variable = dim.rstrip(WILDCARDS)
    wildcard = dim[len(variable) :]
    return names.get(variable, variable) + wildcard


def shape_of(schema: Structure, value: Field, class_prefix: str = "") -> Shape:
    """The shape of a value of a schema; the class gets ``class_prefix`` before its name."""
    if value.type != "category":
        return Shape(value.type, value.optional, value.dim)

    size = schema.classes[value.class_name].dim
    klass = class_prefix + value.class_name
    return Shape(value.type, value.optional, (size,), klass)


def is_public(key: str) -> bool:
    """Whether other values may use a key, too; the empty one stands for no class."""
    return key[:1] not in ("", PRIVATE)


def alternatives(slot: Shape, item: Shape) -> tuple[Bindings, ...]:
    """The least bindings under which ``slot`` takes ``item``, without private keys.

    There is none if it does not take it, and at most one unless the source has a wildcard, whose
    repetitions may be chosen.
    """
    if slot.type != item.type or item.optional > slot.optional:
        return ()
    if is_public(slot.klass) and item.klass == PRIVATE:
        # Several categories share the destination's class; the source's has one category only.
        return ()

    found: list[Bindings] = []
    for dims in _expansions(item.dims, len(slot.dims)):
        bound = _unify(slot.dims, dims)
        if bound is None:
            continue
        bound[slot.klass] = item.klass
        public = {key: value for key, value in bound.items() if is_public(key)}
        _add_if_least(found, public)
    return tuple(found)


def _add_if_least(found: list[Bindings], new: Bindings) -> None:
    """Add bindings, unless others ask for less; those that ask for more go."""
    for other in found:
        if other.items() <= new.items():
            return

    found[:] = [other for other in found if not new.items() <= other.items()]
    found.append(new)


def _expansions(dims: tuple[Dim, ...], longest: int) -> Iterable[tuple[Dim, ...]]:
    """The lists that a source's dims can stand for, as far as a slot of ``longest`` dims differs.

    With more repetitions than the slot has dims, further ones meet the slot's wildcard only, and
    ask the same again.
    """
    place = wildcard_place(dims)
    if place is None:
        return [dims]

    least, most = _times(dims[place])
    most = min(most, longest + 1)
    return (_repeated(dims, place, times) for times in range(least, most + 1))


def _times(wildcard: Dim) -> tuple[int, int]:
    """How many dims a name with a wildcard stands for, at least and at most."""
    return _TIMES[str(wildcard)[-1]]


def _repeated(dims: tuple[Dim, ...], place: int, times: int) -> tuple[Dim, ...]:
    """The dims with the wildcard at ``place`` written out as ``times`` plain variables."""
    variable = str(dims[place])[:-1]
    return (*dims[:place], *(variable,) * times, *dims[place + 1 :])


def _unify(slot: tuple[Dim, ...], dims: tuple[Dim, ...]) -> dict[str, Dim] | None:
    """Bind the slot's variables to ``dims``, which have no wildcard; None if that cannot be.

    A wildcard of the slot is stretched to fill them.
    """
    stretched = _stretched(slot, len(dims))
    if len(stretched) != len(dims):
        return None

    bound: dict[str, Dim] = {}
    for wanted, found in zip(stretched, dims, strict=True):
        # A variable has the value that its first place gave it.
        value = bound.setdefault(wanted, found) if isinstance(wanted, str) else wanted
        if value != found:
            return None

    return bound


def _stretched(slot: tuple[Dim, ...], length: int) -> tuple[Dim, ...]:
    """The slot's dims, its wildcard written out so that they have ``length``, or come near it."""
    place = wildcard_place(slot)
    if place is None:
        return slot

    least, most = _times(slot[place])
    missing = length - len(slot) + 1  # the wildcard's own place is counted already
    times = min(max(missing, least), most)
    return _repeated(slot, place, times)
