"""The parts of a configuration space, each of which knows what it may hold.

A configuration is built by asking for the value of each parameter on its path, so that quasi-random
points, grids and optimizers of others all build through the same walk, and only the parameters that
apply are asked for.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Protocol

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
        """Yield path, parameter and its value (of a choice: the index of its option) of all that
        apply.
        """
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
    """A number of a range with inclusive bounds, on a linear or logarithmic scale, perhaps
    ``whole``.
    """

    low: float
    high: float
    whole: bool
    log: bool
    given: float | None

    def default(self) -> Any:
        return self.given if self.given is not None else self.at(0.5)

    def build(self, ask: "Ask", path: str) -> Any:
        return ask(path, self)

    def parameters(self, value: Any, path: str) -> Iterator[tuple[str, "Parameter", Any]]:
        yield path, self, value

    def grid(self, levels: int) -> Iterator[Any]:
        if levels == 1 or self.low == self.high:
            return iter([self.default() if levels == 1 else self.at(0.0)])
        return iter(dict.fromkeys(self.at(place / (levels - 1)) for place in range(levels)))

    def complete(self, value: Any) -> Any:
        return self.default() if value is MISSING else value

    def why_not(self, value: Any, path: str) -> Problem | None:
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not self.low <= value <= self.high
        ):
            return path, f"{value!r} is not a number from {self.low} to {self.high}."
        return (
            (path, f"{value!r} is not a whole number.")
            if self.whole and value != int(value)
            else None
        )

    def features(self, value: Any) -> list[float]:
        if self.low == self.high:
            return self.unused()
        low, high, here = (math.log(v) if self.log else v for v in (self.low, self.high, value))
        return [min(1.0, max(0.0, (here - low) / (high - low)))]

    def unused(self) -> list[float]:
        return [UNUSED]

    def at(self, share: float) -> Any:
        """Return the value at a share in [0, 1] of the range, on its scale."""
        if self.log:
            value = math.exp(
                math.log(self.low) + share * (math.log(self.high) - math.log(self.low))
            )
        else:
            value = self.low + share * (self.high - self.low)
        inside = min(self.high, max(self.low, value))
        return round(inside) if self.whole else inside

    def drawn(self, share: float) -> Any:
        """Return the value at a uniform draw in [0, 1): whole numbers of a linear scale are equally
        likely.
        """
        if self.whole and not self.log:
            return int(self.low + math.floor(share * (self.high - self.low + 1)))
        return self.at(share)


@dataclass(frozen=True)
class Choice:
    """One of several options, each a space of its own: what depends on the option applies with it
    only.
    """

    options: tuple[Node, ...]
    given: Any = MISSING

    def default(self) -> Any:
        return self.options[0].default() if self.given is MISSING else self.given

    def build(self, ask: "Ask", path: str) -> Any:
        chosen = int(ask(path, self)) if len(self.options) > 1 else 0
        return self.options[chosen].build(ask, f"{path}[{chosen}]")

    def parameters(self, value: Any, path: str) -> Iterator[tuple[str, "Parameter", Any]]:
        chosen = self._chosen(value)
        if chosen is None:
            return
        if len(self.options) > 1:
            yield path, self, chosen
        yield from self.options[chosen].parameters(value, f"{path}[{chosen}]")

    def grid(self, levels: int) -> Iterator[Any]:
        return (value for option in self.options for value in option.grid(levels))

    def complete(self, value: Any) -> Any:
        if value is MISSING:
            return self.default()
        chosen = self._chosen(value)
        return value if chosen is None else self.options[chosen].complete(value)

    def why_not(self, value: Any, path: str) -> Problem | None:
        if self._chosen(value) is not None:
            return None
        if len(self.options) == 1:
            return self.options[0].why_not(value, path)
        plain = [option.value for option in self.options if isinstance(option, Constant)]
        if len(plain) == len(self.options):
            return path, f"{value!r} is none of {plain}."
        return path, f"{value!r} is none of the {len(self.options)} choices."

    def features(self, value: Any) -> list[float]:
        chosen = self._chosen(value)
        hot = [float(place == chosen) for place in range(len(self.options))]
        own = hot if len(hot) > 2 else hot[1:]
        for place, option in enumerate(self.options):
            own.extend(option.features(value) if place == chosen else option.unused())
        return own

    def unused(self) -> list[float]:
        own = len(self.options) if len(self.options) > 2 else len(self.options) - 1
        return [UNUSED] * own + [u for option in self.options for u in option.unused()]

    def _chosen(self, value: Any) -> int | None:
        fits = (
            place for place, option in enumerate(self.options) if option.why_not(value, "") is None
        )
        return next(fits, None)


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
            yield from item.parameters(value.get(name, item.default()), f"{path}.{name}")

    def grid(self, levels: int) -> Iterator[dict[str, Any]]:
        names = list(self.items)
        for values in product(*(list(item.grid(levels)) for item in self.items.values())):
            yield dict(zip(names, values, strict=True))

    def complete(self, value: Any) -> dict[str, Any]:
        given = {} if value is MISSING else value
        return {name: item.complete(given.get(name, MISSING)) for name, item in self.items.items()}

    def why_not(self, value: Any, path: str) -> Problem | None:
        if not isinstance(value, Mapping):
            return path, f"{value!r} is not a mapping."
        unknown = [name for name in value if name not in self.items]
        if unknown:
            return (
                f"{path}.{unknown[0]}",
                f"There is no such parameter; there are: {', '.join(self.items) or 'none'}.",
            )
        problems = (
            self.items[name].why_not(held, f"{path}.{name}") for name, held in value.items()
        )
        return next((problem for problem in problems if problem), None)

    def features(self, value: Any) -> list[float]:
        return [
            u
            for name, item in self.items.items()
            for u in item.features(value.get(name, item.default()))
        ]

    def unused(self) -> list[float]:
        return [u for item in self.items.values() for u in item.unused()]


Parameter = Number | Choice
Ask = Callable[
    [str, Parameter], Any
]  # path and parameter -> its value; of a choice the index of its option
