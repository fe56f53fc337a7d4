"""Bounds for a fixed number of independent examples: how many, and how far an average may be off.

``log_inverse`` is ln(1/alpha), the number of nats of evidence that an error probability ``alpha``
asks for; as a logarithm it also takes the levels of long adaptive series, far below what a float
can hold.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.exact_shares import exact_interval

_SLACK = 1e-9
_FLOAT_NATS = 600.0


def up(size: float) -> int:
    """Round a size up to a whole number of examples, but not for the last digits of a float."""
    return math.ceil(size * (1 - _SLACK))


def hoeffding_size(spread: float, tolerance: float, log_inverse: float) -> float:
    """Return how many values give an average within ``tolerance`` on one side; not rounded.

    The values lie in a range of width ``spread``: ``N = spread^2 ln(1/alpha) / (2 tolerance^2)``
    (Hoeffding 1963, theorem 2).
    """
    return spread * spread * log_inverse / (2 * tolerance * tolerance)


def bennett_size(moment: float, tolerance: float, log_inverse: float) -> float:
    """Return how many values in [-1, 1] with second moment at most ``moment`` suffice, on one side.

    ``N = ln(1/alpha) / (p h(tolerance / p))``, ``h(u) = (1 + u) ln(1 + u) - u`` (Bennett 1962), not
    rounded.
    """
    u = tolerance / moment
    return log_inverse / (moment * ((1 + u) * math.log1p(u) - u))


def bernoulli_divergence(q: float, p: float) -> float:
    """Return the Kullback-Leibler divergence of Bernoulli(q) from Bernoulli(p), in nats.

    Infinite where q cannot be: where p rules out what q allows.
    """
    total = 0.0
    for a, b in ((q, p), (1 - q, 1 - p)):
        if a > 0:
            if b <= 0:
                # Under p this cannot happen, so seeing it settles everything.
                return math.inf
            total += a * math.log(a / b)
    return total


def clopper_pearson(successes: int, trials: int, level: float) -> tuple[float, float]:
    """Return the exact two-sided interval of a share, of error at most ``level`` in all.

    Clopper and Pearson (1934), at ``level / 2`` a side; ``level`` lies in (0, 1).

    Raises:
        InvalidInput: if the successes are no part of the trials, or the level is none.
    """
    if not 0 <= successes <= trials or not 0 < level < 1:
        raise InvalidInput(
            f"{successes} of {trials} at level {level} is not a share with a level in (0, 1)."
        )
    return exact_interval(successes, trials, tail=level / 2)


def exact_cuts(trials: int, low: float, high: float, log_inverse: float) -> tuple[int, int]:
    """Return the fewest successes that prove more than ``low``, and the most that prove less than ``high``.

    Exact binomial tails: P(X >= first | share = low) <= alpha and P(X <= second | share = high) <=
    alpha. Where no count is proof, the first is ``trials + 1`` and the second -1.
    """
    first = _upper_cut(trials, low, log_inverse)
    fewest_failures = _upper_cut(trials, 1 - high, log_inverse)
    return first, trials - fewest_failures


def _upper_cut(trials: int, share: float, log_inverse: float) -> int:
    """Return the least k with P(X >= k) <= alpha.

    By Chernoff's bound where alpha is too small for a float.
    """
    from scipy.special import betainc

    if share <= 0:
        return 1
    if share >= 1:
        return trials + 1
    alpha = math.exp(-log_inverse)

    def proves(k: int) -> bool:
        if log_inverse < _FLOAT_NATS:
            return float(betainc(k, trials - k + 1, share)) <= alpha
        return trials * bernoulli_divergence(k / trials, share) >= log_inverse

    # A count up to the mean proves nothing; above it the tail only falls.
    return _least(proves, math.floor(trials * share) + 1, trials + 1)


def exact_size(low: float, high: float, log_inverse: float, *, whole: bool = True) -> int:
    """Return a number of examples at which exact binomial tails tell one share from another.

    At this size every count of successes proves at least one of the two, each at level alpha. Found
    by bisection; as the binomial is a lattice, a slightly smaller number may do as well. Unless
    ``whole``, sums between two counts prove one of the two as well. Raises ``InvalidInput`` unless
    low < high within [0, 1].
    """
    low = max(low, 0.0)
    high = min(high, 1.0)
    if not low < high:
        raise InvalidInput("The zone between the two shares is empty.")

    def suffices(trials: int) -> bool:
        first, second = exact_cuts(trials, low, high, log_inverse)
        return first <= second + whole

    top = up(hoeffding_size(1.0, (high - low) / 2, log_inverse)) + 3
    return _least(suffices, 1, top)


def _least(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the least number in [low, high] where a monotone property holds.

    ``high`` where nothing less does.
    """
    return low + bisect_left(range(low, high), True, key=holds)


def empirical_bernstein(values: np.ndarray, spread: float, level: float) -> tuple[float, float]:
    """Return a two-sided interval of the mean of independent values in a range of width ``spread``.

    Maurer and Pontil (2009), theorem 4, at ``level / 2`` a side: radius ``sqrt(2 V ln(4/level) / N)
    + 7 spread ln(4/level) / (3 (N - 1))`` with the sample variance V. Raises ``InvalidInput`` for
    fewer than two values, or such as are not finite.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 1 or len(values) < 2 or not np.isfinite(values).all():
        raise InvalidInput("An empirical Bernstein interval needs at least two finite values.")
    width = values.max() - values.min()
    if not 0 < level < 1 or width > spread * (1 + _SLACK):
        raise InvalidInput(
            "The level must lie in (0, 1) and the values in a range of the stated width."
        )
    nats = math.log(4 / level)
    from_variance = math.sqrt(2 * float(values.var(ddof=1)) * nats / len(values))
    from_range = 7 * spread * nats / (3 * (len(values) - 1))
    radius = from_variance + from_range
    mean = float(values.mean())
    return mean - radius, mean + radius
