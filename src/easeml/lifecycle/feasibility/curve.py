"""Learning curves continued to more rows than there are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

POWERS = np.linspace(0.4, 1.0, 7)
SLOWEST = 0.3  # neighbours in d dimensions converge with n^(-2/d)
END_POWERS = np.linspace(SLOWEST, 2.0, 18)  # and what is learned value by value, all but at once
DRAWS = 200
MISFIT = 0.02  # of the level: how far means may lie from a power law


@dataclass(frozen=True)
class Fitted:
    """Power laws ``a + b n^-c``, a, b >= 0: (draws, powers) each, with the weight of every power.

    The first draw is of the rows as they are, the others of bootstrap samples of the evaluated
    rows.
    """

    powers: np.ndarray
    a: np.ndarray
    b: np.ndarray
    weights: np.ndarray

    def at(self, rows: float) -> np.ndarray:
        """Return the mean loss expected after ``rows`` training rows (may be infinite), (draws,)."""
        falls = np.zeros(len(self.powers)) if np.isinf(rows) else rows**-self.powers
        return (self.weights * (self.a + self.b * falls)).sum(axis=1)

    def ends(self, rng: np.random.Generator) -> np.ndarray:
        """Return the mean loss at endless rows, (draws,).

        The first is as ``at`` says; each of the others takes one power, drawn.
        """
        edges = self.weights.cumsum(axis=1)
        drawn = (edges < rng.random((len(edges), 1))).sum(axis=1).clip(max=len(self.powers) - 1)
        return np.append(self.at(np.inf)[:1], self.a[np.arange(len(edges)), drawn][1:])


def fit_curve(
    counts: np.ndarray,
    losses: np.ndarray,
    seed: int,
    *,
    draws: int = DRAWS,
    powers: np.ndarray = POWERS,
) -> Fitted:
    """Fit power laws to a curve.

    ``counts``: (points,) training rows. ``losses``: (points, evaluated rows). ``seed``: of the
    bootstrap samples; the first of ``draws`` needs none.

    Powers are weighted by how well they fit: the likelihood of normal residues, whose size is the
    sampling error between neighbouring points and ``MISFIT`` of the level. Points count by the
    square root of their rows, as larger training sets vary less.
    """
    rows = losses.shape[1]
    means = samples_of_rows(rows, draws, seed) @ losses.T / rows
    weight = np.sqrt(counts / counts.sum())
    weight = weight / weight.sum()
    x = counts[:, None] ** -powers
    mean_x = weight @ x
    spread = weight @ (x - mean_x) ** 2
    level = means @ weight
    b = np.maximum(0, means @ (weight[:, None] * (x - mean_x)) / np.maximum(spread, 1e-300))
    a = level[:, None] - b * mean_x
    through_zero = np.maximum(0, means @ (weight[:, None] * x) / (weight @ x**2))
    a, b = np.where(a < 0, 0.0, a), np.where(a < 0, through_zero, b)
    gaps = means[:, None, :] - a[:, :, None] - b[:, :, None] * x.T
    variance = _sampling_error(losses) ** 2 + (MISFIT * level) ** 2 + 1e-12
    residue = (gaps**2 * weight).sum(axis=2) / variance[:, None]
    # of as many points, two are spent on the fit
    free = max(0, len(counts) - 2)
    fits = np.exp(-free * (residue - residue.min(axis=1, keepdims=True)) / 2)
    return Fitted(powers, a, b, fits / fits.sum(axis=1, keepdims=True))


def samples_of_rows(rows: int, draws: int, seed: int) -> np.ndarray:
    """Return how often each draw has each row, (draws, rows); the first has each once."""
    first = np.ones((1, rows))
    if draws == 1:
        return first
    return np.vstack([first, _resampled(rows, draws - 1, seed)])


@lru_cache(maxsize=1)  # a study fits dozens of curves of the same rows, one after the other
def _resampled(rows: int, draws: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.multinomial(rows, np.full(rows, 1 / rows), draws)


def _sampling_error(losses: np.ndarray) -> float:
    """Return the mean standard error of what mean losses fall from point to point; 0 for one."""
    if len(losses) < 2:
        return 0.0
    falls = losses[:-1] - losses[1:]
    return float(falls.std(axis=1).mean() / np.sqrt(losses.shape[1]))


def still_to_fall(losses: np.ndarray) -> float:
    """Return how much the mean loss may still fall, at the slowest rate allowed.

    It is 0 where the last fall may be chance.

    ``losses``: (points, evaluated rows), the last two after a size of the training set and its
    double.
    """
    return float(_rests(losses, np.ones((1, losses.shape[1])))[0])


def slowest_ends(losses: np.ndarray, samples: np.ndarray) -> np.ndarray:
    """Return the mean loss at endless rows if its last fall goes on so, (draws,); at least 0.

    ``losses``: as of ``still_to_fall``. ``samples``: (draws, evaluated rows), how often each draw
    has each row.
    """
    last = samples @ losses[-1] / losses.shape[1]
    return np.maximum(0.0, last - _rests(losses, samples))


def _rests(losses: np.ndarray, samples: np.ndarray) -> np.ndarray:
    """Return ``still_to_fall`` of each draw; whether the fall is chance is told by all rows."""
    fall = losses[-2] - losses[-1]
    if fall.mean() <= 2 * fall.std() / np.sqrt(len(fall)):
        return np.zeros(len(samples))
    # of b n^-c, all that is left is this many times what the last doubling brought
    rest = 1 / (2**SLOWEST - 1)
    return rest * np.maximum(0.0, samples @ fall / len(fall))
