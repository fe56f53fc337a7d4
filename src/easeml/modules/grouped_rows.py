"""95 % intervals where rows come in groups, such as ten rows of each of twenty people.

Rows of one group are right or wrong together, so they tell less than as many rows drawn one by one.
What they tell is seen by leaving out one group after the other.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .contract import Objective

_MOST_PARTS = 50  # that are left out, one after the other; more groups than that are put together
_MOST_ROWS, _SEED = 20_000, 20180801
_SURE = 0.975  # of each end


def as_of_groups(
    of: Objective,
    measure: Callable[..., float],
    found: tuple[float, float, float],
    prepared: Sequence[NDArray[Any]],
    groups: NDArray[np.intp],
) -> tuple[float, float, float]:
    """Return a value with its interval, as far as rows of one group have to be taken together.

    The ends of the interval of single rows are moved away from the value until half of its width is
    that of the jackknife over groups (B. Efron and R. Tibshirani, An Introduction to the Bootstrap,
    1993, chapter 11), with a quantile of Student's t for so many groups; never nearer. They keep
    what they have of each side: near 1 the lower end is farther off than the upper one.

    ``of``: whose ``measure`` it is. ``found``: value, low and high, of single rows. ``prepared``:
    arrays that ``measure`` takes, a row each; ``groups``: of each row, by number. One group tells
    nothing of others: what was found stays.
    """
    value, low, high = found
    if high == low:
        return found
    half = _half_width(measure, prepared, groups)
    farther = max(1.0, 2 * half / (high - low))
    least, most = _limits(of, is_value=measure == of.value)
    moved_low = max(least, value - farther * (value - low))
    moved_high = min(most, value + farther * (high - value))
    return value, min(low, moved_low), max(high, moved_high)


def _limits(of: Objective, *, is_value: bool) -> tuple[float, float]:
    """Return between what a value, or a quality, of an objective lies."""
    is_error = getattr(of, "lower_is_better", False)
    may_be_negative = getattr(of, "may_be_negative", False)
    if is_value:
        return -math.inf if may_be_negative else 0.0, math.inf if is_error else 1.0
    return -1.0 if may_be_negative or is_error else 0.0, 1.0


def _half_width(
    measure: Callable[..., float], prepared: Sequence[NDArray[Any]], groups: NDArray[np.intp]
) -> float:
    """Return half of the width of the jackknife's interval; 0 of one group."""
    from scipy.stats import t as student

    chosen, parts = _parts(groups)
    number = int(parts.max()) + 1
    if number < 2:
        return 0.0
    some = [of_rows[chosen] for of_rows in prepared]
    without = []
    for part in range(number):
        kept = parts != part
        without.append(measure(*[of_rows[kept] for of_rows in some]))
    spread = math.sqrt((number - 1) * np.var(without) * len(chosen) / len(groups))
    return spread * float(student.ppf(_SURE, number - 1))


def _parts(groups: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the places of rows to look at, whole groups of them, and of each the part it is in.

    Groups are put into parts in a random order, each time the same.
    """
    sizes = np.unique(groups, return_counts=True)[1]
    order = np.random.default_rng(_SEED).permutation(len(sizes))
    enough = int(np.searchsorted(np.cumsum(sizes[order]), _MOST_ROWS)) + 1
    used = min(len(sizes), max(enough, _MOST_PARTS))
    part_of = np.full(len(sizes), -1)
    part_of[order[:used]] = np.arange(used) % _MOST_PARTS
    parts = part_of[np.unique(groups, return_inverse=True)[1]]
    chosen = np.flatnonzero(parts >= 0)
    return chosen, parts[chosen]
