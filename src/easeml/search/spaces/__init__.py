"""Configuration spaces: defaults, checks, draws, grids, and points of the unit cube.

What a space is written as: ``spaces.parse``.
"""

import math
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from easeml.search.spaces.narrowing import narrow
from easeml.search.spaces.nodes import Ask, Choice, Number, Parameter, check_allowed
from easeml.search.spaces.parse import parse

__all__ = [
    "Ask", "Choice", "Number", "Parameter", "build", "check", "complete", "default", "draws", "features", "grid",
    "listed", "narrow", "parameters", "parse", "suggest",
]  # fmt: skip

Config = dict[str, Any]


def default(space: Mapping[str, Any]) -> Config:
    """Return the configuration of all defaults.

    A default is ``.default``, else the first choice or the middle of the bounds.

    Raises ``InvalidInput`` naming the path where the space is not of the language.
    """
    return parse(space).default()


def check(space: Mapping[str, Any], where: str) -> None:
    """Raise ``InvalidInput`` if the space is not of the language.

    The path that it names begins with ``where``.
    """
    parse(space, where)


def complete(space: Mapping[str, Any], config: Mapping[str, Any], where: str = "config") -> Config:
    """Return ``config`` with the defaults of ``space`` filled in, also inside what was chosen.

    Raises ``InvalidInput`` with the path, beginning with ``where``, of a value outside the space.
    """
    root = parse(space)
    check_allowed(root, config, where)
    return root.complete(config)


def features(space: Mapping[str, Any], config: Mapping[str, Any]) -> tuple[float, ...]:
    """Return ``config`` as coordinates in [0, 1].

    Their number is the same for all configurations of a space.

    A number is one coordinate on its scale; a choice among k > 2 is one of k, of two is 0 or 1;
    parameters that do not apply are in the middle. Missing keys count as their defaults. Raises
    ``InvalidInput`` with the path of a value outside the space.
    """
    return tuple(parse(space).features(complete(space, config)))


def build(space: Mapping[str, Any], ask: Ask) -> Config:
    """Return a configuration made of what ``ask(path, parameter)`` says.

    It is asked for what applies only.
    """
    return parse(space).build(ask, "")


def parameters(
    space: Mapping[str, Any], config: Mapping[str, Any]
) -> dict[str, tuple[Parameter, Any]]:
    """Return path -> (parameter, value) of all that applies in a configuration.

    The value of a choice is the index of its option.

    The paths are those that ``build`` asks for. Raises like ``complete``.
    """
    applying = parse(space).parameters(complete(space, config), "")
    return {path: (parameter, value) for path, parameter, value in applying}


def listed(space: Mapping[str, Any]) -> dict[str, Parameter]:
    """Return path -> parameter of all that a space has, also inside what may be chosen.

    The paths are those that ``build`` asks for. Raises ``InvalidInput`` like ``default``.
    """
    return dict(parse(space).listed(""))


def draws(space: Mapping[str, Any], seed: int) -> Iterator[Config]:
    """Yield configurations that fill the space evenly, without end, the default first.

    There may be repeats.

    Scrambled Sobol points (Sobol 1967; Owen 1998) of ``seed``. A parameter of one path has the same
    coordinate in all points. Raises ``InvalidInput`` like ``default``.
    """
    from scipy.stats import qmc

    root = parse(space)
    yield root.default()
    points = qmc.Sobol(max(1, len(root.unused())), scramble=True, rng=seed)
    places: dict[str, int] = {}
    size = 64
    while True:
        for point in points.random(size):
            yield root.build(partial(_drawn_at, point, places), "")


def _drawn_at(point: np.ndarray, places: dict[str, int], path: str, parameter: Parameter) -> Any:
    """Return the value of a parameter at a point, in which each path has a place of its own."""
    place = places.setdefault(path, len(places))
    return parameter.drawn(min(float(point[place]), 1 - 1e-12))


def suggest(space: Mapping[str, Any], n: int, seed: int) -> list[Config]:
    """Return at most ``n`` different configurations that fill the space evenly, the default first.

    Fewer than ``n`` when the space seems to have fewer. Raises ``InvalidInput`` like ``default``.
    """
    if n <= 0:
        return []
    varies = bool(parse(space).unused())
    most_draws = 4 * 2 ** math.ceil(math.log2(n)) + 1
    found: list[Config] = []
    for config in islice(draws(space, seed), most_draws):
        if config not in found:
            found.append(config)
        if len(found) == n or not varies:
            break
    return found


def grid(space: Mapping[str, Any], levels: int) -> Iterator[Config]:
    """Yield every combination of ``levels`` values of each number and of all choices.

    Raises ``InvalidInput`` like ``default``.
    """
    return parse(space).grid(levels)
