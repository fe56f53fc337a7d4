"""The Gaussian process over finitely many arms, conditioned at a cost that does not grow with the observations.

Rasmussen and Williams, Gaussian Processes for Machine Learning (2006), equations 2.25 and 2.26: with prior mean m,
covariance V and noise s2, an observation y of arm a changes the mean by k (y - m[a]) / (k[a] + s2) and the covariance
by - k k^T / (k[a] + s2), where k is the current column a of the covariance. The covariance is kept as
V - F^T F with one row of F for a change, so an observation costs O(t K) for t rows. Repeats of an arm add rows too;
when there are more than twice as many rows as distinct arms, F is built anew from the count and mean of each arm,
which are sufficient, so t stays below twice the number of distinct arms (and K^2 bounds the work) and errors of
rounding do not add up.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from easeml.errors import InvalidInput

_SPARE_ROWS = 8  # rows of repeats kept before the first refresh


def _frozen(values: np.ndarray) -> np.ndarray:
    values.flags.writeable = False
    return values


@dataclass(frozen=True, eq=False)
class Prior:
    """Belief before any observation: mean (K,), covariance (K, K) of the arms, variance ``noise`` of an observation.

    Raises ``InvalidInput`` where shapes do not agree, a number is not finite, the covariance is not symmetric or has
    a negative variance, or the noise is not above 0. That it is positive semi-definite is up to the caller.
    """

    mean: np.ndarray
    covariance: np.ndarray
    noise: float

    def __post_init__(self) -> None:
        mean = np.array(self.mean, dtype=float)
        covariance = np.array(self.covariance, dtype=float)
        if mean.ndim != 1 or covariance.shape != (mean.size, mean.size):
            raise InvalidInput(
                f"The mean has shape {mean.shape}, the covariance {covariance.shape}.",
                where="prior",
                remedy="Give K means and a K x K covariance.",
            )
        if not (np.isfinite(mean).all() and np.isfinite(covariance).all()):
            raise InvalidInput("Mean and covariance must be finite.", where="prior")
        if not np.allclose(covariance, covariance.T) or (np.diagonal(covariance) < 0).any():
            raise InvalidInput("The covariance must be symmetric with variances of at least 0.", where="prior")
        if not (np.isfinite(self.noise) and self.noise > 0):
            raise InvalidInput(f"The noise variance {self.noise} is not above 0.", where="prior")
        object.__setattr__(self, "mean", _frozen(mean))
        object.__setattr__(self, "covariance", _frozen(covariance))


@dataclass(frozen=True, eq=False)
class Posterior:
    """Belief after observations; every change makes a new one.

    ``mean``, ``variance`` (K,), in quality; ``factor`` (t, K), see the module; ``counts`` and ``sums`` (K,) of the
    observations of each arm.
    """

    prior: Prior
    mean: np.ndarray
    variance: np.ndarray
    factor: np.ndarray
    counts: np.ndarray
    sums: np.ndarray

    @classmethod
    def of(cls, prior: Prior) -> "Posterior":
        """Return the belief without observations."""
        size = prior.mean.size
        none = _frozen(np.zeros(size))
        variance = _frozen(np.diagonal(prior.covariance).copy())
        return cls(prior, prior.mean, variance, _frozen(np.zeros((0, size))), none, none)

    def observe(self, arm: int, quality: float) -> "Posterior":
        """Condition on one noisy observation of ``arm``: O(t K), amortised over refreshes."""
        counts, sums = self.counts.copy(), self.sums.copy()
        counts[arm] += 1
        sums[arm] += quality
        if len(self.factor) >= 2 * np.count_nonzero(counts) + _SPARE_ROWS:
            return exact(self.prior, counts, sums)
        row, spread = self._change(arm)
        mean = self.mean + row * ((quality - self.mean[arm]) / spread)
        return self._with(row, mean, _frozen(counts), _frozen(sums))

    def believe(self, arm: int) -> "Posterior":
        """Pretend that ``arm`` came out at its mean: less variance around it, the same means.

        The kriging believer for runs under way (Ginsbourger, Le Riche, Carraro 2010).
        """
        row, _ = self._change(arm)
        return self._with(row, self.mean, self.counts, self.sums)

    def covariance(self, arms: np.ndarray) -> np.ndarray:
        """Return the covariance among some ``arms`` (indices)."""
        rows = self.factor[:, arms]
        return self.prior.covariance[np.ix_(arms, arms)] - rows.T @ rows

    def _change(self, arm: int) -> tuple[np.ndarray, float]:
        column = self.prior.covariance[arm] - self.factor[:, arm] @ self.factor
        spread = float(np.sqrt(max(column[arm], 0.0) + self.prior.noise))
        return column / spread, spread

    def _with(self, row: np.ndarray, mean: np.ndarray, counts: np.ndarray, sums: np.ndarray) -> "Posterior":
        variance = np.maximum(self.variance - row * row, 0.0)
        factor = np.vstack([self.factor, row])
        return Posterior(self.prior, _frozen(mean), _frozen(variance), _frozen(factor), counts, sums)


def exact(prior: Prior, counts: np.ndarray, sums: np.ndarray) -> Posterior:
    """Return the posterior from the number and sum of observations of each arm, in O(t^3 + t^2 K) for t distinct arms.

    n observations of an arm are one of their mean with noise s2 / n.
    """
    seen = np.flatnonzero(counts)
    gram = prior.covariance[np.ix_(seen, seen)] + np.diag(prior.noise / counts[seen])
    lower = cholesky(gram, lower=True)
    factor = np.ascontiguousarray(solve_triangular(lower, prior.covariance[seen], lower=True))
    innovation = solve_triangular(lower, sums[seen] / counts[seen] - prior.mean[seen], lower=True)
    mean = prior.mean + innovation @ factor
    variance = np.maximum(np.diagonal(prior.covariance) - np.sum(factor * factor, axis=0), 0.0)
    return Posterior(prior, *map(_frozen, (mean, variance, factor, counts.copy(), sums.copy())))
