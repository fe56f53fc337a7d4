"""How sums and extremes of independent uncertain numbers are distributed.

Sums are convolved: on a grid where the numbers have a common step, value by value otherwise, as
long as there are few enough. Extremes are products of distribution functions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from easeml.figures import Figure

MOST_CELLS = 1 << 23
"""Steps of a grid on which sums are convolved, times the rounds in which that is done."""
MOST_VALUES = 200_000
"""Different sums that are kept without a grid."""
DRAWS = 4000
"""Worlds drawn where a distribution is not computed."""
_DIGITS = 12  # sums that agree in so many digits are the same number
_DECIMALS = 6  # of a grid
_NOISE = 1e-15  # probabilities below are no more than rounding errors of Fourier transforms


class Probabilities(dict[float, float]):
    """Values with their probabilities, in order; a value that is not there has probability 0."""

    def __missing__(self, value: float) -> float:
        return 0.0


@dataclass(frozen=True)
class Distribution:
    """How likely each value of an answer is, over all worlds.

    ``values`` (K,) ascending and ``probabilities`` (K,), which sum to ``1 - undefined``.
    ``undefined``: the chance that there is no value at all, such as a mean of no rows; ``mean`` and
    ``variance`` are those of the worlds where there is one, NaN where there is none. ``exact``:
    computed; otherwise ``DRAWS`` worlds were drawn, and each P(answer <= x) is off by at most
    ``error``, at 95 % confidence for all x together (Massart 1990; the bound is 0 where exact).

    Sums of too many different values are blurred instead (``relation.blurred``): mean and variance
    are exact, and P(answer <= x) lies between the true probabilities at ``x - resolution`` and
    ``x + resolution``, up to 1e-8. ``exact`` is then false, and ``error`` 0.
    """

    values: np.ndarray
    probabilities: np.ndarray
    mean: float
    variance: float
    undefined: float = 0.0
    exact: bool = True
    error: float = 0.0
    resolution: float = 0.0

    @cached_property
    def distribution(self) -> dict[float, float]:
        """The values with their probabilities; a value that is not there has probability 0."""
        pairs = zip(self.values.tolist(), self.probabilities.tolist(), strict=True)
        return Probabilities(pairs)

    @property
    def standard_deviation(self) -> float:
        """The square root of the variance."""
        return math.sqrt(self.variance)

    def quantile(self, share: float) -> float:
        """Return the smallest value that is reached with at least this probability, in [0, 1]."""
        reached = np.cumsum(self.probabilities)
        place = int(np.searchsorted(reached, share * reached[-1] - 1e-12))
        return float(self.values[min(place, len(self.values) - 1)])

    def __repr__(self) -> str:
        if not len(self.values):
            return "undefined: there is no value in any world"
        low = self.quantile(0.025)
        high = self.quantile(0.975)
        return f"mean {self.mean:.6g}, 95 % between {low:.6g} and {high:.6g} ({self.method})"

    def figure(self) -> Figure | None:
        """Draw how likely each value is; None where there is no value at all."""
        from easeml.figures.lineage import distribution

        if not len(self.values):
            return None
        return distribution(self.values.tolist(), self.probabilities.tolist())

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Show picture and summary in a notebook, and the summary elsewhere."""
        figure = self.figure()
        if figure is None:
            return {"text/plain": repr(self)}
        shown = f"{figure.to_html()}<p>{escape(repr(self))}</p>"
        return {"text/html": shown, "image/svg+xml": figure.to_svg(), "text/plain": repr(self)}

    @property
    def method(self) -> str:
        """How the distribution was found, and how far it may be off."""
        if self.exact:
            return "exact"
        if self.resolution:
            return f"to within {self.resolution:.3g}; mean and variance exact"
        return f"from {DRAWS} drawn worlds, off by {self.error:.3f}"


def distribution_of(
    values: np.ndarray, probabilities: np.ndarray, undefined: float = 0.0
) -> Distribution:
    """Return the exact distribution of values that may repeat; those without mass are left out."""
    kept = probabilities > 0
    distinct, place = np.unique(values[kept], return_inverse=True)
    mass = np.bincount(place, probabilities[kept], minlength=len(distinct))
    mean, variance = _moments(distinct, mass)
    return Distribution(distinct, mass, mean, variance, undefined)


def drawn_distribution(values: np.ndarray) -> Distribution:
    """Return the distribution of answers in drawn worlds; NaN where there was none."""
    known = values[~np.isnan(values)]
    distinct, counts = np.unique(known, return_counts=True)
    mass = counts / len(values)
    mean, variance = _moments(distinct, mass)
    error = math.sqrt(math.log(2 / 0.05) / (2 * len(values)))
    undefined = 1 - len(known) / len(values)
    return Distribution(distinct, mass, mean, variance, undefined, exact=False, error=error)


@dataclass(frozen=True)
class Totals:
    """Joint distribution of a sum and a count: ``probabilities`` (K,) of ``sums`` and ``counts``."""

    sums: np.ndarray
    counts: np.ndarray
    probabilities: np.ndarray


def totals(
    values: np.ndarray, counts: np.ndarray, weights: np.ndarray, first: np.ndarray
) -> Totals | None:
    """Return how the sums over groups are distributed, each group giving one of its candidates.

    Args:
        values: (T,) finite numbers; ``counts``: (T,) whole numbers of at least 0.
        weights: (T,) probabilities, which sum to one in each group.
        first: (G + 1,) where the groups begin.

    Returns: None where there are too many different sums to compute.
    """
    ways = float(np.log(np.diff(first)).sum())
    grid = _grid(values, first)
    if grid is not None and ways > math.log(MOST_VALUES):
        found = _on_grid(grid, counts, weights, first)
        if found is not None:
            return found
    return _value_by_value(values, counts, weights, first)


def largest(values: np.ndarray, weights: np.ndarray, first: np.ndarray) -> Distribution:
    """Return how the largest of independent numbers is distributed.

    P(max <= x) is the product of the groups' P(value <= x). A value of -infinity stands for none.

    Args:
        values: (T,); ``weights``: (T,) probabilities, which sum to one in each group.
        first: (G + 1,) where the groups begin.
    """
    group = np.repeat(np.arange(len(first) - 1), np.diff(first))
    order = np.lexsort((values, group))
    reached = _within_groups(weights[order], first)
    before = reached - weights[order]
    # A group that has not begun has a factor of zero; the others multiply by what they gained.
    begins = np.zeros(len(order), bool)
    begins[first[:-1]] = True
    gain = np.log(reached) - np.log(np.where(begins, 1.0, before))
    rising = np.argsort(values[order], kind="stable")
    outstanding = (len(first) - 1) - np.cumsum(begins[rising])
    product = np.exp(np.minimum(np.cumsum(gain[rising]), 0.0))
    up_to = np.where(outstanding > 0, 0.0, product)
    ascending = values[order][rising]
    last = np.append(ascending[1:] != ascending[:-1], True)
    levels = ascending[last]
    mass = np.diff(up_to[last], prepend=0.0)
    nothing = float(mass[np.isneginf(levels)].sum())
    finite = np.isfinite(levels)
    return distribution_of(levels[finite], mass[finite], nothing)


def _moments(values: np.ndarray, mass: np.ndarray) -> tuple[float, float]:
    total = mass.sum()
    if total <= 0:
        return math.nan, math.nan
    mean = float(values @ mass / total)
    return mean, float((values - mean) ** 2 @ mass / total)


def _within_groups(weights: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Return sums of weights so far within each group; the last of a group is one."""
    running = np.cumsum(weights)
    starts = np.concatenate([[0.0], running])[first[:-1]]
    reached = running - np.repeat(starts, np.diff(first))
    reached[first[1:] - 1] = 1.0
    return np.clip(reached, 1e-300, 1.0)


@dataclass(frozen=True)
class _Grid:
    """Values as ``start + step * places`` (T,), where ``start`` sums the least of each group."""

    start: float
    step: float
    places: np.ndarray
    width: int


def _grid(values: np.ndarray, first: np.ndarray) -> _Grid | None:
    """Return the coarsest grid on which all sums lie; None where there is none of a fair size."""
    if len(values) == 0:
        return None
    least = np.minimum.reduceat(values, first[:-1])
    above = values - np.repeat(least, np.diff(first))
    for digits in range(_DECIMALS + 1):
        scaled = above * 10**digits
        whole = np.rint(scaled)
        if np.abs(scaled - whole).max() > 1e-7 or whole.max() > MOST_CELLS * 1000:
            continue
        places = whole.astype(np.int64)
        divisor = max(int(np.gcd.reduce(places)), 1)
        places //= divisor
        width = int(np.maximum.reduceat(places, first[:-1]).sum()) + 1
        if width > MOST_CELLS:
            return None
        return _Grid(float(least.sum()), divisor / 10**digits, places, width)
    return None


def _on_grid(
    grid: _Grid, counts: np.ndarray, weights: np.ndarray, first: np.ndarray
) -> Totals | None:
    most = int(np.maximum.reduceat(counts, first[:-1]).sum()) + 1
    rounds = math.ceil(math.log2(len(first)))
    if grid.width * most * rounds > MOST_CELLS:
        return None
    # Sum and count become one number: the count is its last digit in a base that it cannot exceed.
    codes = grid.places * most + counts
    masses = []
    for begin, end in pairwise(first):
        masses.append(np.bincount(codes[begin:end], weights[begin:end]))
    mass = convolved(masses)
    reached = np.flatnonzero(mass > 0)
    sums = grid.start + grid.step * (reached // most)
    return Totals(sums, reached % most, mass[reached])


def convolved(masses: list[np.ndarray]) -> np.ndarray:
    """Return the distribution of the sum of independent whole numbers of at least 0.

    Neighbours are convolved pair by pair, so that both are about equally long: O(n log^2 n).
    """
    from scipy.signal import oaconvolve

    while len(masses) > 1:
        halved = []
        for left, right in zip(masses[::2], masses[1::2], strict=False):
            if min(len(left), len(right)) < 200:
                halved.append(np.convolve(left, right))
            else:
                product = oaconvolve(left, right)
                halved.append(np.where(product > _NOISE, product, 0.0))
        if len(masses) % 2:
            halved.append(masses[-1])
        masses = halved
    return masses[0]


def _value_by_value(
    values: np.ndarray, counts: np.ndarray, weights: np.ndarray, first: np.ndarray
) -> Totals | None:
    sums = np.zeros(1)
    numbers = np.zeros(1, np.int64)
    mass = np.ones(1)
    scale = max(float(np.abs(values).sum()), 1e-300)
    for begin, end in pairwise(first):
        if len(sums) * (end - begin) > MOST_VALUES * 20:
            return None
        every_sum = np.add.outer(sums, values[begin:end]).ravel()
        every_count = np.add.outer(numbers, counts[begin:end]).ravel()
        every_mass = np.multiply.outer(mass, weights[begin:end]).ravel()
        rounded = np.round(every_sum / scale, _DIGITS)
        keys = rounded + 1j * every_count
        _, chosen, place = np.unique(keys, return_index=True, return_inverse=True)
        sums, numbers = every_sum[chosen], every_count[chosen]
        mass = np.bincount(place, every_mass)
        if len(sums) > MOST_VALUES:
            return None
    return Totals(sums, numbers, mass)
