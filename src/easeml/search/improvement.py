"""Expected improvement, and how much of it a job may still hope for."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import qmc

if TYPE_CHECKING:
    from easeml.search.state import SearchState

BEST_POSSIBLE = 1.0  # qualities are scaled so that 1 is best
_DRAWS = 256
_ARMS = 32  # the most promising arms; the others hardly move the maximum
_SEED = 20180827


class Remaining(NamedTuple):
    """Quality that further training is expected to add, and the standard deviation of that belief."""

    expected: float
    error: float


def expected_improvement(mean: np.ndarray, variance: np.ndarray, best: float) -> np.ndarray:
    """Return E[min(A, 1) - best]+ of A ~ N(mean, variance), elementwise.

    sd h((mean - best) / sd) with h(u) = u Phi(u) + phi(u) (Jones, Schonlau, Welch 1998), less the part above the
    quality of 1 that nothing can reach.
    """
    deviation = np.sqrt(variance)
    return _excess(mean, deviation, best) - _excess(mean, deviation, max(best, BEST_POSSIBLE))


def remaining(state: "SearchState", job: str) -> Remaining:
    """Return the improvement over the best quality so far that ``job`` may still expect from all its untried arms.

    E[max over arms of min(A, 1) - best]+ by quasi-random draws (scrambled Sobol points, fixed seed) from the joint
    posterior of the arms with the highest expected improvement; arms under way count. Without any quality yet, best
    is 0. Raises ``NotFound`` for an unknown job.
    """
    found = state.job(job)
    left = found.untried
    if not left.size:
        return Remaining(0.0, 0.0)
    best = 0.0 if found.best is None else found.best
    posterior = found.posterior
    hopes = expected_improvement(posterior.mean[left], posterior.variance[left], best)
    top = np.sort(left[np.argsort(-hopes, kind="stable")[:_ARMS]])
    draws = posterior.mean[top] + _normal_draws(top.size) @ _root(posterior.covariance(top)).T
    gains = np.maximum(np.minimum(draws.max(axis=1), BEST_POSSIBLE) - best, 0.0)
    return Remaining(float(gains.mean()), float(gains.std()))


def _excess(mean: np.ndarray, deviation: np.ndarray, level: float) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        u = (mean - level) / deviation
        density = np.exp(-0.5 * u * u) / np.sqrt(2 * np.pi)
        gain = deviation * (u * ndtr(u) + density)
    return np.maximum(np.where(deviation > 0, gain, mean - level), 0.0)


def _normal_draws(dimensions: int) -> np.ndarray:
    points = qmc.Sobol(dimensions, scramble=True, rng=_SEED).random(_DRAWS)
    return ndtri(np.clip(points, 1e-12, 1 - 1e-12))


def _root(covariance: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(np.maximum(values, 0.0))
