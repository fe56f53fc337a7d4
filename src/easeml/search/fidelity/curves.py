"""Learning curves: where one leads, and whether that is still of interest."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from easeml.search.checks import require

_EXPONENTS = np.linspace(0.1, 2.0, 20)
_FEWEST = 4  # reports from which a curve is looked at
_LEAST_NOISE = 1e-3  # standard deviation of a report
_BEST_POSSIBLE = 1.0


class Forecast(NamedTuple):
    """Quality expected at the end, and the standard deviation of that belief."""

    mean: float
    error: float

    def chance_above(self, level: float) -> float:
        """Return the probability that the end is above ``level``."""
        from scipy.special import ndtr

        return float(ndtr((self.mean - level) / max(self.error, 1e-12)))


def forecast(steps: Sequence[float], qualities: Sequence[float], horizon: float) -> Forecast:
    """Return where a curve will be at ``horizon``.

    ``horizon`` is at least the last step; steps grow and are above 0.

    Power laws quality = a - b step^-c (one of the families of Domhan, Springenberg, Hutter, IJCAI
    2015), fitted by least squares for 20 exponents c with b of at least 0, averaged by their
    likelihood; a Bayesian linear regression for each (Bishop, 2006, section 3.3) gives the error,
    and their disagreement adds to it. With fewer than four reports it is the last quality, with an
    error of all that is left up to 1. Raises ``InvalidInput`` for steps out of order, or what is
    not a number.
    """
    x, y = _checked(steps, qualities, horizon)
    if x.size < _FEWEST:
        return Forecast(float(y[-1]), max(_BEST_POSSIBLE - float(y[-1]), 0.1))
    fits = [_fit(x, y, horizon, exponent) for exponent in _EXPONENTS]
    means, variances, logs = map(np.array, zip(*fits, strict=True))
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    mean = float(weights @ means)
    variance = float(weights @ (variances + (means - mean) ** 2))
    return Forecast(min(mean, _BEST_POSSIBLE), float(np.sqrt(variance)))


def is_hopeless(
    steps: Sequence[float],
    qualities: Sequence[float],
    horizon: float,
    best: float,
    chance: float = 0.05,
) -> bool:
    """Tell whether training may stop, since its curve hardly ends above ``best``.

    It may where the probability of that is at most ``chance``.

    The predictive termination of Domhan et al. (2015). Raises like ``forecast``.
    """
    return (
        len(steps) >= _FEWEST and forecast(steps, qualities, horizon).chance_above(best) <= chance
    )


def worth_returning(
    stopped: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    horizon: float,
    best: float,
    chance: float = 0.2,
) -> list[str]:
    """Return the stopped candidates that may end above ``best`` after all, the likeliest first.

    What was hopeless against one best quality need not be so later: the best so far may have been
    another job's data, or be withdrawn. ``stopped``: candidate -> its steps and qualities. Raises
    like ``forecast``.
    """
    chances = {
        name: forecast(*curve, horizon).chance_above(best) for name, curve in stopped.items()
    }
    return sorted(
        (name for name, held in chances.items() if held >= chance),
        key=lambda name: (-chances[name], name),
    )


def _checked(
    steps: Sequence[float], qualities: Sequence[float], horizon: float
) -> tuple[np.ndarray, np.ndarray]:
    x = np.array(steps, dtype=float)
    y = np.array(qualities, dtype=float)
    require(
        x.size and x.shape == y.shape and np.isfinite([x, y]).all(),
        "A curve has as many finite steps as qualities, at least one.",
        where="curve",
    )
    require(
        (np.diff(x, prepend=0.0) > 0).all() and x[-1] <= horizon < np.inf,
        "Steps grow from above 0 up to the horizon.",
        where="curve",
    )
    return x, y


def _fit(
    x: np.ndarray, y: np.ndarray, horizon: float, exponent: float
) -> tuple[float, float, float]:
    """Return mean and variance at the horizon, and the log-likelihood, of one exponent."""
    falling = (x / x[-1]) ** -exponent
    design = np.column_stack([np.ones_like(x), -falling])
    end = np.array([1.0, -float((horizon / x[-1]) ** -exponent)])
    ridge = np.diag([1e-4, 1e-2])  # levels and gains beyond 1 are unlikely
    precision = design.T @ design + ridge * _LEAST_NOISE
    weights = np.linalg.solve(precision, design.T @ y)
    if weights[1] < 0:  # a curve that falls is expected to stay where it is
        weights = np.array([float(y.mean()), 0.0])
    misfit = float(np.sum((y - design @ weights) ** 2))
    noise = max(misfit / max(x.size - 2, 1), _LEAST_NOISE**2)
    variance = noise * float(end @ np.linalg.solve(precision, end)) + noise
    return (
        float(end @ weights),
        variance,
        -0.5 * x.size * float(np.log(noise)) - 0.5 * misfit / noise,
    )
