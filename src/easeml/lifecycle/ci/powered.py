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
    """An estimate with its interval [low, high].

    ``factor`` is the k used; ``exact`` whether the interval holds at every size.
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
    """Return the mean of values in [0, 1], with an interval that misses it at most at ``level``.

    ``values`` (n,) and their ``guesses`` (n,) are of labelled examples, ``pool_guesses`` (N,) of
    others, all drawn alike; guesses lie in [0, 1] and come from a model that saw none of the
    labels.

    ``exact``: the factor is learned on the first half of the labels and used on the second, whose
    mean of ``value - k guess`` and the pool's mean each get an empirical Bernstein interval at half
    the level: it holds at every size, and may be wider than labels alone give where guesses are
    poor. Otherwise: PPI++, the factor of least variance and a normal approximation, never wider
    than the normal interval of the labels alone up to the error of the estimated factor; for large
    samples only.

    Raises:
        InvalidInput: if values are not in [0, 1], lengths differ, or there are fewer than 8 labels
            or 2 of the pool.
    """
    values = np.asarray(values, dtype=np.float64)
    guesses = np.asarray(guesses, dtype=np.float64)
    pool = np.asarray(pool_guesses, dtype=np.float64)
    enough = len(values) >= 8 and len(pool) >= 2
    if len(values) != len(guesses) or not enough:
        raise InvalidInput(
            "Prediction-powered means need a guess a value, 8 values and 2 of the pool at least."
        )
    everything = np.concatenate([values, guesses, pool])
    within = bool(((everything >= 0) & (everything <= 1)).all())
    if not within or not 0 < level < 1:
        raise InvalidInput("Values and guesses must lie in [0, 1], the level in (0, 1).")
    interval = _exact if exact else _normal
    return interval(values, guesses, pool, level)


def _exact(values: np.ndarray, guesses: np.ndarray, pool: np.ndarray, level: float) -> PoweredMean:
    # The factor comes from labels that the interval does not use: there it is fixed in advance.
    half = len(values) // 2
    factor = _factor(values[:half], guesses[:half], len(pool))
    rest = values[half:] - factor * guesses[half:]
    pool_part = factor * pool
    low, high = empirical_bernstein(rest, 1 + factor, level / 2)
    if factor:
        pool_low, pool_high = empirical_bernstein(pool_part, factor, level / 2)
        low, high = low + pool_low, high + pool_high
    return PoweredMean(
        estimate=float(rest.mean() + pool_part.mean()),
        low=max(0.0, min(1.0, low)),
        high=max(0.0, min(1.0, high)),
        factor=factor,
        exact=True,
    )


def _normal(values: np.ndarray, guesses: np.ndarray, pool: np.ndarray, level: float) -> PoweredMean:
    from scipy.special import ndtri

    factor = _factor(values, guesses, len(pool))
    rest = values - factor * guesses
    estimate = float(rest.mean() + factor * pool.mean())
    labelled_variance = float(rest.var(ddof=1)) / len(rest)
    pool_variance = factor**2 * float(pool.var(ddof=1)) / len(pool)
    error = math.sqrt(labelled_variance + pool_variance)
    radius = error * -float(ndtri(level / 2))
    return PoweredMean(
        estimate=estimate,
        low=max(0.0, estimate - radius),
        high=min(1.0, estimate + radius),
        factor=factor,
        exact=False,
    )


def _factor(values: np.ndarray, guesses: np.ndarray, pool: int) -> float:
    """Return the factor of least variance, within [0, 1].

    It is ``cov(value, guess) / ((1 + n / N) var(guess))``.
    """
    spread = float(guesses.var(ddof=1))
    if spread <= 0:
        return 0.0
    products = (values - values.mean()) * (guesses - guesses.mean())
    joint = float(products.sum() / (len(values) - 1))
    factor = joint / ((1 + len(values) / pool) * spread)
    return min(1.0, max(0.0, factor))
