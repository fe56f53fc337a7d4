"""Convergence: how much improvement a job may still hope for."""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri
from scipy.stats import qmc

from easeml.search.improvement import BEST_POSSIBLE, expected_improvement
from easeml.search.state import SearchState

_DRAWS = 256
_ARMS = 32  # the most promising arms; the others hardly move the maximum
_SEED = 20180827


class Remaining(NamedTuple):
    """Quality that further training is expected to add, and the standard deviation of that belief."""

    expected: float
    error: float


def remaining(state: SearchState, job: str) -> Remaining:
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


def _normal_draws(dimensions: int) -> np.ndarray:
    points = qmc.Sobol(dimensions, scramble=True, rng=_SEED).random(_DRAWS)
    return ndtri(np.clip(points, 1e-12, 1 - 1e-12))


def _root(covariance: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(np.maximum(values, 0.0))
