"""One value against another: what a destination's tensor or category takes, and under which
bindings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from easeml.schema.structure import Dim, Field, Structure

PRIVATE = "~"  # starts every key that only one value uses: what it is bound to matters to no other
Bindings = Mapping[str, Dim]  # key -> size, or name of the source's class


@dataclass(frozen=True, slots=True)
class Shape:
    """A value with all that matters for matching. ``dims``: of a tensor; of a category the size of
    its class.

    ``klass``: empty but for categories; the key of the class in a destination, its name in a
    source.
    """

    type: str
    optional: bool
    dims: tuple[Dim, ...] = ()
    klass: str = ""

    def used_keys(self) -> Iterator[str]:
        """The variables and the class, also private ones, each time they occur."""
        for dim in self.dims:
            if isinstance(dim, str):
                yield dim.rstrip("?+*")
        if self.klass:
            yield self.klass

    def renamed(self, names: Mapping[str, str]) -> Shape:
        """The same shape with other keys."""
        dims = tuple(
            names.get(dim.rstrip("?+*"), dim.rstrip("?+*")) + dim[len(dim.rstrip("?+*")) :]
            if isinstance(dim, str)
            else dim
            for dim in self.dims
        )
        return Shape(self.type, self.optional, dims, names.get(self.klass, self.klass))


def shape_of(schema: Structure, value: Field, class_prefix: str = "") -> Shape:
    """The shape of a value of a schema; the class gets ``class_prefix`` before its name."""
    if value.type == "category":
        size = schema.classes[value.class_name].dim
        return Shape(value.type, value.optional, (size,), class_prefix + value.class_name)
    return Shape(value.type, value.optional, value.dim)


def alternatives(slot: Shape, item: Shape) -> tuple[Bindings, ...]:
    """The least bindings under which ``slot`` takes ``item``, without private keys; none if it does
    not.

    There is one alternative at most unless the source has a wildcard, whose repetitions may be
    chosen.
    """
    if slot.type != item.type or (item.optional and not slot.optional):
        return ()
    shared_class = slot.klass and not slot.klass.startswith(PRIVATE)
    if shared_class and item.klass == PRIVATE:
        return ()  # several categories share the destination's class, and one alone has the source's
    found: list[Bindings] = []
    for dims in _expansions(item.dims, len(slot.dims)):
        bound = _unify(slot.dims, dims)
        if bound is None:
            continue
        public = {key: value for key, value in bound.items() if not key.startswith(PRIVATE)}
        if shared_class:
            public[slot.klass] = item.klass
        if any(other.items() <= public.items() for other in found):
            continue
        found = [other for other in found if not public.items() <= other.items()]
        found.append(public)
    return tuple(found)


def _expansions(dims: tuple[Dim, ...], longest: int) -> Iterator[tuple[Dim, ...]]:
    """The lists that a source's dims can stand for, as far as they differ for a slot of ``longest``
    dims.

    With more repetitions than the slot has dims, further ones meet the slot's wildcard only, and
    ask the same again.
    """
    at = next((i for i, dim in enumerate(dims) if isinstance(dim, str) and dim[-1] in "?+*"), None)
    if at is None:
        yield dims
        return
    wild = str(dims[at])
    most = 1 if wild[-1] == "?" else longest + 1
    for times in range(1 if wild[-1] == "+" else 0, most + 1):
        yield (*dims[:at], *(wild[:-1],) * times, *dims[at + 1 :])


def _unify(slot: tuple[Dim, ...], dims: tuple[Dim, ...]) -> dict[str, Dim] | None:
    """Bind the slot's variables to ``dims``, which have no wildcard; the slot's is stretched to
    fill them.
    """
    at = next((i for i, dim in enumerate(slot) if isinstance(dim, str) and dim[-1] in "?+*"), None)
    if at is not None:
        wild = str(slot[at])
        times = len(dims) - len(slot) + 1
        if times < (wild[-1] == "+") or (wild[-1] == "?" and times > 1):
            return None
        slot = (*slot[:at], *(wild[:-1],) * times, *slot[at + 1 :])
    if len(slot) != len(dims):
        return None
    bound: dict[str, Dim] = {}
    for wanted, found in zip(slot, dims, strict=True):
        if (bound.setdefault(wanted, found) if isinstance(wanted, str) else wanted) != found:
            return None
    return bound
