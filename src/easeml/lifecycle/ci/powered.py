"""Prediction-powered means: few labels and many guesses of what the labels would say.

``theta(k) = k mean(guesses of the pool) + mean(values - k guesses of the labelled)`` has the right
mean for every k fixed in advance; a good guess and a large pool leave little variance (Angelopoulos
et al., "Prediction-powered inference", Science 2023; the factor k from "PPI++", 2023). In
continuous integration the value is a model's correctness, and the guess its confidence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.ci.bounds import empirical_bernstein


@dataclass(frozen=True)
class PoweredMean:
    """An estimate with an interval; ``factor`` is the k used, ``exact`` whether the interval holds
    at every size.
    """

    estimate: float
    low: float
    high: float
    factor: float
    exact: bool


def powered_mean(
    values: np.ndarray,
    guesses: np.ndarray,
    pool_guesses: np.ndarray,
    level: float,
    *,
    exact: bool = True,
) -> PoweredMean:
    """Return the mean of values in [0, 1] with an interval that misses it with probability at most
    ``level``.

    ``values`` (n,) and their ``guesses`` (n,) are of labelled examples, ``pool_guesses`` (N,) of
    others, all drawn alike; guesses lie in [0, 1] and come from a model that saw none of the
    labels.

    ``exact``: the factor is learned on the first half of the labels and used on the second, whose
    mean of ``value - k guess`` and the pool's mean each get an empirical Bernstein interval at half
    the level: it holds at every size, and may be wider than labels alone give where guesses are
    poor. Otherwise: PPI++, the factor of least variance and a normal approximation, never wider
    than the normal interval of the labels alone up to the error of the estimated factor; for large
    samples only.

    Raises: InvalidInput: if values are not in [0, 1], lengths differ, or there are fewer than 8
        labels or 2 of the pool.
    """
    values, guesses, pool = (
        np.asarray(part, dtype=np.float64) for part in (values, guesses, pool_guesses)
    )
    if len(values) != len(guesses) or len(values) < 8 or len(pool) < 2:
        raise InvalidInput(
            "Prediction-powered means need a guess a value, 8 values and 2 of the pool at least."
        )
    if (
        not all(((part >= 0) & (part <= 1)).all() for part in (values, guesses, pool))
        or not 0 < level < 1
    ):
        raise InvalidInput("Values and guesses must lie in [0, 1], the level in (0, 1).")
    return _exact(values, guesses, pool, level) if exact else _normal(values, guesses, pool, level)


def _exact(values: np.ndarray, guesses: np.ndarray, pool: np.ndarray, level: float) -> PoweredMean:
    half = len(values) // 2
    factor = _factor(values[:half], guesses[:half], len(pool))
    rest, pool_part = values[half:] - factor * guesses[half:], factor * pool
    sides = [
        empirical_bernstein(rest, 1 + factor, level / 2),
        empirical_bernstein(pool_part, factor, level / 2) if factor else (0.0, 0.0),
    ]
    low, high = (max(0.0, min(1.0, sides[0][end] + sides[1][end])) for end in (0, 1))
    return PoweredMean(float(rest.mean() + pool_part.mean()), low, high, factor, True)


def _normal(values: np.ndarray, guesses: np.ndarray, pool: np.ndarray, level: float) -> PoweredMean:
    from scipy.special import ndtri

    factor = _factor(values, guesses, len(pool))
    rest = values - factor * guesses
    estimate = float(rest.mean() + factor * pool.mean())
    error = math.sqrt(
        float(rest.var(ddof=1)) / len(rest) + factor**2 * float(pool.var(ddof=1)) / len(pool)
    )
    radius = error * -float(ndtri(level / 2))
    return PoweredMean(
        estimate, max(0.0, estimate - radius), min(1.0, estimate + radius), factor, False
    )


def _factor(values: np.ndarray, guesses: np.ndarray, pool: int) -> float:
    """Return the factor of least variance, ``cov(value, guess) / ((1 + n / N) var(guess))``, within
    [0, 1].
    """
    spread = float(guesses.var(ddof=1))
    if spread <= 0:
        return 0.0
    joint = float(((values - values.mean()) * (guesses - guesses.mean())).sum() / (len(values) - 1))
    return min(1.0, max(0.0, joint / ((1 + len(values) / pool) * spread)))
