"""Configuration spaces: defaults, quasi-random suggestions, and configurations as points of the unit cube.

A space is JSON. A mapping with ``.choice`` (a list), ``.int`` or ``.float`` (a pair of inclusive bounds) is a
parameter, perhaps with ``.scale`` (``linear`` or ``log``) and ``.default``; another mapping is a group of named
spaces; anything else is a constant. Options of a choice may be spaces themselves: conditional parameters.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from scipy.stats import qmc

from easeml.errors import InvalidInput

_PARAMETERS = (".choice", ".int", ".float")
_UNUSED = 0.5  # coordinate of a parameter that a configuration does not use


class _Node(Protocol):
    @property
    def width(self) -> int:
        """How many coordinates a draw takes."""
        ...

    def default(self) -> Any: ...
    def draw(self, point: Sequence[float]) -> Any: ...
    def why_not(self, value: Any, path: str) -> tuple[str, str] | None: ...
    def features(self, value: Any) -> list[float]: ...
    def unused(self) -> list[float]: ...


def default(space: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration of all defaults: ``.default``, else the first choice or the middle of the bounds.

    Raises ``InvalidInput`` naming the path where the space is not of the language.
    """
    return _parse_group(space, "space").default()


def suggest(space: Mapping[str, Any], n: int, seed: int) -> list[dict[str, Any]]:
    """Return at most ``n`` different configurations that fill the space evenly; the first is the default.

    Scrambled Sobol points (Sobol 1967; Owen 1998) of ``seed``. Fewer than ``n`` when the space has fewer. Raises
    ``InvalidInput`` like ``default``.
    """
    root = _parse_group(space, "space")
    found = [root.default()]
    if n <= 1 or root.width == 0:
        return found[: max(n, 0)]
    draws = math.ceil(math.log2(4 * n))
    for point in qmc.Sobol(root.width, scramble=True, rng=seed).random_base2(draws):
        config = root.draw([min(float(u), 1 - 1e-12) for u in point])
        if config not in found:
            found.append(config)
        if len(found) == n:
            break
    return found


def features(space: Mapping[str, Any], config: Mapping[str, Any]) -> tuple[float, ...]:
    """Return ``config`` as coordinates in [0, 1], of the same number for all configurations of a space.

    A number is one coordinate on its scale; a choice among k > 2 is one of k, of two is 0 or 1; parameters that do
    not apply are in the middle. Missing keys count as their defaults. Raises ``InvalidInput`` with the path of a
    value outside the space.
    """
    root = _parse_group(space, "space")
    problem = root.why_not(config, "config")
    if problem:
        raise InvalidInput(problem[1], where=problem[0])
    return tuple(root.features(config))


@dataclass(frozen=True)
class _Constant:
    value: Any
    width: int = 0

    def default(self) -> Any:
        return self.value

    def draw(self, point: Sequence[float]) -> Any:
        return self.value

    def why_not(self, value: Any, path: str) -> tuple[str, str] | None:
        if type(value) is type(self.value) and value == self.value:
            return None
        return path, f"{value!r} is not the constant {self.value!r}."

    def features(self, value: Any) -> list[float]:
        return []

    def unused(self) -> list[float]:
        return []


@dataclass(frozen=True)
class _Number:
    low: float
    high: float
    whole: bool
    log: bool
    given: float | None
    width: int = 1

    def default(self) -> Any:
        return self.given if self.given is not None else self._at(0.5)

    def draw(self, point: Sequence[float]) -> Any:
        if self.whole and not self.log:
            return int(self.low + math.floor(point[0] * (self.high - self.low + 1)))
        return self._at(point[0])

    def why_not(self, value: Any, path: str) -> tuple[str, str] | None:
        if isinstance(value, bool) or not isinstance(value, int | float) or not self.low <= value <= self.high:
            return path, f"{value!r} is not a number from {self.low} to {self.high}."
        return (path, f"{value!r} is not a whole number.") if self.whole and value != int(value) else None

    def features(self, value: Any) -> list[float]:
        if self.low == self.high:
            return self.unused()
        low, high, here = (math.log(v) if self.log else v for v in (self.low, self.high, value))
        return [min(1.0, max(0.0, (here - low) / (high - low)))]

    def unused(self) -> list[float]:
        return [_UNUSED]

    def _at(self, u: float) -> Any:
        if self.log:
            value = math.exp(math.log(self.low) + u * (math.log(self.high) - math.log(self.low)))
        else:
            value = self.low + u * (self.high - self.low)
        inside = min(self.high, max(self.low, value))
        return round(inside) if self.whole else inside


@dataclass(frozen=True)
class _Choice:
    options: tuple[_Node, ...]
    given: Any
    has_given: bool

    @property
    def width(self) -> int:
        return 1 + sum(option.width for option in self.options)

    def default(self) -> Any:
        return self.given if self.has_given else self.options[0].default()

    def draw(self, point: Sequence[float]) -> Any:
        chosen = min(int(point[0] * len(self.options)), len(self.options) - 1)
        start = 1 + sum(option.width for option in self.options[:chosen])
        option = self.options[chosen]
        return option.draw(point[start : start + option.width])

    def why_not(self, value: Any, path: str) -> tuple[str, str] | None:
        if self._chosen(value) is not None:
            return None
        if len(self.options) == 1:
            return self.options[0].why_not(value, path)
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
        return [_UNUSED] * own + [u for option in self.options for u in option.unused()]

    def _chosen(self, value: Any) -> int | None:
        fits = (place for place, option in enumerate(self.options) if option.why_not(value, "") is None)
        return next(fits, None)


@dataclass(frozen=True)
class _Group:
    items: dict[str, _Node]

    @property
    def width(self) -> int:
        return sum(item.width for item in self.items.values())

    def default(self) -> dict[str, Any]:
        return {name: item.default() for name, item in self.items.items()}

    def draw(self, point: Sequence[float]) -> dict[str, Any]:
        config, start = {}, 0
        for name, item in self.items.items():
            config[name] = item.draw(point[start : start + item.width])
            start += item.width
        return config

    def why_not(self, value: Any, path: str) -> tuple[str, str] | None:
        if not isinstance(value, Mapping):
            return path, f"{value!r} is not a mapping."
        unknown = [name for name in value if name not in self.items]
        if unknown:
            return f"{path}.{unknown[0]}", f"There is no such parameter; there are: {', '.join(self.items) or 'none'}."
        problems = (self.items[name].why_not(held, f"{path}.{name}") for name, held in value.items())
        return next((problem for problem in problems if problem), None)

    def features(self, value: Any) -> list[float]:
        return [u for name, item in self.items.items() for u in item.features(value.get(name, item.default()))]

    def unused(self) -> list[float]:
        return [u for item in self.items.values() for u in item.unused()]


def _parse(space: Any, path: str) -> _Node:
    if not isinstance(space, Mapping):
        return _Constant(space)
    if any(str(key).startswith(".") for key in space):
        return _parse_parameter(space, path)
    return _parse_group(space, path)


def _parse_group(space: Any, path: str) -> _Group:
    if not isinstance(space, Mapping):
        raise InvalidInput("A configuration space is a mapping.", where=path)
    dotted = [key for key in space if str(key).startswith(".")]
    if dotted and path == "space":
        raise InvalidInput(f"{dotted[0]!r} has no name.", where=path, remedy="Put the parameter under a name.")
    return _Group({str(name): _parse(item, f"{path}.{name}") for name, item in space.items()})


def _parse_parameter(space: Mapping[str, Any], path: str) -> _Node:
    kinds = [kind for kind in _PARAMETERS if kind in space]
    if len(kinds) != 1:
        raise InvalidInput("A parameter has one of .choice, .int and .float.", where=path)
    allowed = {kinds[0], ".default"} | (set() if kinds[0] == ".choice" else {".scale"})
    unknown = [key for key in space if key not in allowed]
    if unknown:
        raise InvalidInput(f"{unknown[0]!r} has no place here.", where=path, remedy=f"Use {sorted(allowed)}.")
    node = _parse_choice(space, path) if kinds[0] == ".choice" else _parse_number(space, kinds[0], path)
    if ".default" in space:
        problem = node.why_not(space[".default"], f"{path}.default")
        if problem:
            raise InvalidInput(problem[1], where=problem[0])
    return node


def _parse_choice(space: Mapping[str, Any], path: str) -> _Choice:
    options = space[".choice"]
    if not isinstance(options, list | tuple) or not options:
        raise InvalidInput("The choices are not a list of at least one.", where=f"{path}.choice")
    nodes = tuple(_parse(option, f"{path}.choice[{place}]") for place, option in enumerate(options))
    return _Choice(nodes, space.get(".default"), ".default" in space)


def _parse_number(space: Mapping[str, Any], kind: str, path: str) -> _Number:
    bounds, scale = space[kind], space.get(".scale", "linear")
    if not isinstance(bounds, list | tuple) or len(bounds) != 2 or not all(_is_number(b) for b in bounds):
        raise InvalidInput("Bounds are two finite numbers.", where=f"{path}{kind}")
    if bounds[0] > bounds[1]:
        raise InvalidInput(f"The lower bound {bounds[0]} is above {bounds[1]}.", where=f"{path}{kind}")
    if kind == ".int" and any(bound != int(bound) for bound in bounds):
        raise InvalidInput("Bounds of .int are whole numbers.", where=f"{path}{kind}")
    if scale not in ("linear", "log"):
        raise InvalidInput(f"{scale!r} is no scale.", where=f"{path}.scale", remedy="Use linear or log.")
    if scale == "log" and bounds[0] <= 0:
        raise InvalidInput("A log scale needs bounds above 0.", where=f"{path}{kind}")
    return _Number(bounds[0], bounds[1], kind == ".int", scale == "log", space.get(".default"))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
