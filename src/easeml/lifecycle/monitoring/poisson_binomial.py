"""How many of n predictions are right, if each is right with a probability of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from easeml.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

DIRECT = 64


def poisson_binomial(probabilities: ArrayLike) -> np.ndarray:
    """Return the distribution of the number of successes among independent trials; shape (n + 1,).

    The product of the polynomials ``1 - p + p x``, by halves with fast Fourier transforms, so in
    O(n log(n)**2).

    Raises:
        InvalidInput: if a probability is missing or not in [0, 1].
    """
    p = np.asarray(probabilities, dtype=np.float64).ravel()
    if not np.all((p >= 0) & (p <= 1)):
        raise InvalidInput("Probabilities must be in [0, 1].", where="probabilities")
    return np.clip(_product(p), 0.0, None)


def _product(p: np.ndarray) -> np.ndarray:
    from scipy.signal import fftconvolve

    if p.size > DIRECT:
        half = p.size // 2
        return fftconvolve(_product(p[:half]), _product(p[half:]))
    found = np.ones(1)
    for chance in p:
        found = np.convolve(found, (1 - chance, chance))
    return found


def right_interval(probabilities: ArrayLike, level: float = 0.95) -> tuple[float, float]:
    """Return an interval that holds the share of right predictions with ``level`` at least."""
    pmf = poisson_binomial(probabilities)
    cumulative = np.cumsum(pmf)
    tail = (1 - level) / 2
    low = int(np.searchsorted(cumulative, tail, side="right"))
    high = int(np.searchsorted(cumulative, 1 - tail, side="left"))
    trials = max(pmf.size - 1, 1)
    return low / trials, min(high, trials) / trials
