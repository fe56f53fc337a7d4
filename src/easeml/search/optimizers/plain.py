"""Optimizers that learn nothing from what was tried."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, count
from typing import Any

import numpy as np

from easeml.search import spaces
from easeml.search.optimizers.base import Tried, fresh
from easeml.search.spaces import Choice, Config, Number

_MOST_LEVELS = 65  # of a number in a grid


class QuasiRandom:
    """Points that fill the space evenly, the default first.

    Source: Sobol (1967), scrambled by Owen (1998).
    """

    name = "quasi-random"

    def propose(
        self, space: Mapping[str, Any], tried: Sequence[Tried], n: int, seed: int
    ) -> list[Config]:
        """See ``Optimizer``."""
        return fresh(spaces.draws(space, seed), tried, n)


class Random:
    """Uniform draws on each parameter's scale.

    Source: Bergstra and Bengio, Random search (JMLR 2012).
    """

    name = "random"

    def propose(
        self, space: Mapping[str, Any], tried: Sequence[Tried], n: int, seed: int
    ) -> list[Config]:
        """See ``Optimizer``."""
        return fresh(random_draws(space, np.random.default_rng([seed, len(tried)])), tried, n)


class Grid:
    """Every combination of levels, of one level first (the defaults), then of 2, 3, 5, 9 and so on.

    Each of these grids holds the one before it, but for the first, so that a search can end at any
    time.
    """

    name = "grid"

    def propose(
        self, space: Mapping[str, Any], tried: Sequence[Tried], n: int, seed: int
    ) -> list[Config]:
        """See ``Optimizer``; ``seed`` does not matter."""
        grids = (spaces.grid(space, levels) for levels in _levels())
        return fresh(chain.from_iterable(grids), tried, n)


def random_draws(space: Mapping[str, Any], generator: np.random.Generator) -> Iterator[Config]:
    """Yield uniform draws of a space, without end."""
    root = spaces.parse(space)
    ask = partial(uniform_draw, generator)
    return (root.build(ask, "") for _ in count())


def uniform_draw(generator: np.random.Generator, path: str, parameter: Number | Choice) -> Any:
    """Return a uniform draw of a parameter, on its scale."""
    if isinstance(parameter, Number):
        return parameter.drawn(float(generator.random()))
    return int(generator.integers(len(parameter.options)))


def _levels() -> Iterator[int]:
    yield 1
    levels = 2
    while levels <= _MOST_LEVELS:
        yield levels
        levels = 2 * levels - 1


OPTIMIZERS = (Grid(), QuasiRandom(), Random())
