"""The parts of a configuration space, each of which knows what it may hold.

A configuration is built by asking for the value of each parameter on its path, so that quasi-random
points, grids and optimizers of others all build through the same walk, and only the parameters that
apply are asked for.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, product
from typing import Any, NamedTuple, Protocol

from easeml.errors import InvalidInput
from easeml.search.numbers import is_number

UNUSED = 0.5  # coordinate of a parameter that a configuration does not use
MISSING = object()  # stands for a value that was not given

Problem = tuple[str, str]  # path, and what is wrong there


class Node(Protocol):
    """A space, or a part of one. ``path`` tells parameters apart and names them in errors."""

    def default(self) -> Any:
        """Return the value of all defaults."""
        ...

    def build(self, ask: "Ask", path: str) -> Any:
        """Return a value, made of what ``ask`` says for each parameter that applies."""
        ...

    def parameters(self, value: Any, path: str) -> Iterator[tuple[str, "Parameter", Any]]:
        """Yield path, parameter and value of all that apply; of a choice the index of its option."""
        ...

    def listed(self, path: str) -> Iterator[tuple[str, "Parameter"]]:
        """Yield path and parameter of all that there are, whether they apply or not."""
        ...

    def grid(self, levels: int) -> Iterator[Any]:
        """Yield all values with at most ``levels`` of each number."""
        ...

    def complete(self, value: Any) -> Any:
        """Return an allowed value with the defaults of what it leaves out."""
        ...

    def why_not(self, value: Any, path: str) -> Problem | None:
        """Return what keeps a value from being allowed, if anything."""
        ...

    def features(self, value: Any) -> list[float]:
        """Return an allowed value as coordinates in [0, 1]."""
        ...

    def unused(self) -> list[float]:
        """Return the coordinates where this part does not apply."""
        ...


def check_allowed(node: Node, value: Any, path: str) -> None:
    """Raise ``InvalidInput`` with what keeps a value from being allowed, and where."""
    problem = node.why_not(value, path)
    if problem:
        place, fault = problem
        raise InvalidInput(fault, where=place)


@dataclass(frozen=True)
class Constant:
    """A value that does not vary."""

    value: Any

    def default(self) -> Any:
        return self.value

    def build(self, ask: "Ask", path: str) -> Any:
        return self.value

    def parameters(self, value: Any, path: str) -> Iterator[tuple[str, "Parameter", Any]]:
        return iter(())

    def listed(self, path: str) -> Iterator[tuple[str, "Parameter"]]:
        return iter(())

    def grid(self, levels: int) -> Iterator[Any]:
        yield self.value

    def complete(self, value: Any) -> Any:
        return self.value

    def why_not(self, value: Any, path: str) -> Problem | None:
        if type(value) is type(self.value) and value == self.value:
            return None
        return path, f"{value!r} is not the constant {self.value!r}."

    def features(self, value: Any) -> list[float]:
        return []

    def unused(self) -> list[float]:
        return []


@dataclass(frozen=True)
class Number:
    """A number of a range with inclusive bounds, on a linear or logarithmic scale.

    ``is_resource``: more of it costs more and seldom harms, such as trees or steps.
    """

    low: float
    high: float
    whole: bool
    log: bool
    given: float | None
    is_resource: bool = False

    def default(self) -> Any:
        if self.given is not None:
            return self.given
        return self.at(0.5)

    def build(self, ask: "Ask", path: str) -> Any:
        return ask(path, self)

    def parameters(self, value: Any, path: str) -> Iterator[tuple[str, "Parameter", Any]]:
        yield path, self, value

    def listed(self, path: str) -> Iterator[tuple[str, "Parameter"]]:
        yield path, self

    def grid(self, levels: int) -> Iterator[Any]:
        if levels == 1:
            return iter([self.default()])

        # A value of a narrow range may be reached from several places.
        last = levels - 1
        values = [self.at(place / last) for place in range(levels)]
        return iter(dict.fromkeys(values))

    def complete(self, value: Any) -> Any:
        return self.default() if value is MISSING else value

    def why_not(self, value: Any, path: str) -> Problem | None:
        if not is_number(value) or not self.low <= value <= self.high:
            return path, f"{value!r} is not a number from {self.low} to {self.high}."
        if self.whole and value != int(value):
            return path, f"{value!r} is not a whole number."
        return None

    def features(self, value: Any) -> list[float]:
        if self.low == self.high:
            return self.unused()

        low, high, here = map(self._scale.measure, (self.low, self.high, value))
        share = (here - low) / (high - low)
        return [min(1.0, max(0.0, share))]

    def unused(self) -> list[float]:
        return [UNUSED]

    def at(self, share: float) -> Any:
        """Return the value at a share in [0, 1] of the range, on its scale."""
        low, high = map(self._scale.measure, (self.low, self.high))
        value = self._scale.value(low + share * (high - low))

        # Rounding may lead out of the bounds.
        inside = min(self.high, max(self.low, value))
        return round(inside) if self.whole else inside

    def drawn(self, share: float) -> Any:
        """Return the value at a uniform draw in [0, 1).

        Whole numbers of a linear scale are equally likely.
        """
        if self.whole and not self.log:
            count = self.high - self.low + 1
            return int(self.low + math.floor(share * count))
        return self.at(share)

    @property
    def _scale(self) -> "_Scale":
        return _LOGARITHMIC if self.log else _LINEAR


class _Scale(NamedTuple):
    """How numbers lie on a line: from a number to its place there, and back."""

    measure: Callable[[float], float]
    value: Callable[[float], float]


_LINEAR = _Scale(lambda number: number, lambda place: place)
_LOGARITHMIC = _Scale(math.log, math.exp)


@dataclass(frozen=True)
class Choice:
    """One of several options, each a space of its own that applies with it only."""

    options: tuple[Node, ...]
    given: Any = MISSING

    def default(self) -> Any:
        if self.given is MISSING:
            return self.options[0].default()
        return self.given

    def drawn(self, share: float) -> int:
        """Return the option, by its index, at a uniform draw in [0, 1): all are equally likely."""
        return int(share * len(self.options))

    def build(self, ask: "Ask", path: str) -> Any:
        chosen = 0
        if len(self.options) > 1:
            chosen = int(ask(path, self))
        return self.options[chosen].build(ask, f"{path}[{chosen}]")

    def parameters(self, value: Any, path: str) -> Iterator[tuple[str, "Parameter", Any]]:
        chosen = self._chosen(value)
        if chosen is None:
            return

        # A choice of one is none.
        if len(self.options) > 1:
            yield path, self, chosen
        yield from self.options[chosen].parameters(value, f"{path}[{chosen}]")

    def listed(self, path: str) -> Iterator[tuple[str, "Parameter"]]:
        if len(self.options) > 1:
            yield path, self
        for place, option in enumerate(self.options):
            yield from option.listed(f"{path}[{place}]")

    def grid(self, levels: int) -> Iterator[Any]:
        for option in self.options:
            yield from option.grid(levels)

    def complete(self, value: Any) -> Any:
        if value is MISSING:
            return self.default()

        chosen = self._chosen(value)
        if chosen is None:
            return value
        return self.options[chosen].complete(value)

    def why_not(self, value: Any, path: str) -> Problem | None:
        if self._chosen(value) is not None:
            return None

        # With one option its own reason says most.
        if len(self.options) == 1:
            return self.options[0].why_not(value, path)

        # Constants can be listed; other options are spaces of their own.
        plain = [option.value for option in self.options if isinstance(option, Constant)]
        if len(plain) == len(self.options):
            return path, f"{value!r} is none of {plain}."
        return path, f"{value!r} is none of the {len(self.options)} choices."

    def features(self, value: Any) -> list[float]:
        chosen = self._chosen(value)
        hot = [0.0] * len(self.options)
        of_options = [option.unused() for option in self.options]
        if chosen is not None:
            hot[chosen] = 1.0
            of_options[chosen] = self.options[chosen].features(value)

        own = hot[len(hot) - self._hot_coordinates() :]
        return [*own, *chain.from_iterable(of_options)]

    def unused(self) -> list[float]:
        own = [UNUSED] * self._hot_coordinates()
        for option in self.options:
            own += option.unused()
        return own

    def _hot_coordinates(self) -> int:
        """Return how many coordinates tell the option: of two one is enough."""
        count = len(self.options)
        return count if count > 2 else count - 1

    def _chosen(self, value: Any) -> int | None:
        for place, option in enumerate(self.options):
            if option.why_not(value, "") is None:
                return place
        return None


@dataclass(frozen=True)
class Group:
    """Named spaces side by side."""

    items: Mapping[str, Node]

    def default(self) -> dict[str, Any]:
        return {name: item.default() for name, item in self.items.items()}

    def build(self, ask: "Ask", path: str) -> dict[str, Any]:
        return {name: item.build(ask, f"{path}.{name}") for name, item in self.items.items()}

    def parameters(self, value: Any, path: str) -> Iterator[tuple[str, "Parameter", Any]]:
        for name, item in self.items.items():
            held = value.get(name, item.default())
            yield from item.parameters(held, f"{path}.{name}")

    def listed(self, path: str) -> Iterator[tuple[str, "Parameter"]]:
        for name, item in self.items.items():
            yield from item.listed(f"{path}.{name}")

    def grid(self, levels: int) -> Iterator[dict[str, Any]]:
        names = list(self.items)
        grids = [list(item.grid(levels)) for item in self.items.values()]
        for values in product(*grids):
            yield dict(zip(names, values, strict=True))

    def complete(self, value: Any) -> dict[str, Any]:
        given = {} if value is MISSING else value
        completed = {}
        for name, item in self.items.items():
            completed[name] = item.complete(given.get(name, MISSING))
        return completed

    def why_not(self, value: Any, path: str) -> Problem | None:
        if not isinstance(value, Mapping):
            return path, f"{value!r} is not a mapping."

        for name in value:
            if name not in self.items:
                known = ", ".join(self.items) or "none"
                return f"{path}.{name}", f"There is no such parameter; there are: {known}."

        problems = (
            self.items[name].why_not(held, f"{path}.{name}") for name, held in value.items()
        )
        return next(filter(None, problems), None)

    def features(self, value: Any) -> list[float]:
        coordinates = []
        for name, item in self.items.items():
            held = value.get(name, item.default())
            coordinates += item.features(held)
        return coordinates

    def unused(self) -> list[float]:
        coordinates = []
        for item in self.items.values():
            coordinates += item.unused()
        return coordinates


Parameter = Number | Choice

# What gives a parameter its value, by path; a choice the index of its option.
Ask = Callable[[str, Parameter], Any]
