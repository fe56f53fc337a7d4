"""Convergence: how much improvement a job may still hope for."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from easeml.search.feasible import UNLIKELY
from easeml.search.improvement import BEST_POSSIBLE
from easeml.search.jobs import share_of_all
from easeml.search.state import SearchState, set_resting

_DRAWS = 256
_ARMS = 32  # the most promising arms; the others hardly move the maximum
_SEED = 20180827


class Remaining(NamedTuple):
    """Quality that further training is expected to add, and the standard deviation of that belief."""

    expected: float
    error: float


def remaining(state: SearchState, job: str) -> Remaining:
    """Return the improvement that ``job`` may still expect from all its untried arms.

    It is over the best quality so far.

    E[max over arms of min(A, 1) - best]+ by quasi-random draws (scrambled Sobol points, fixed seed)
    from the joint posterior of the arms with the highest expected improvement; arms under way
    count, and those that are unlikely to keep the rules of the job do not. Of that the share is
    told that comes true (``SearchJob.share_of_all``). Without any quality yet, best is 0. Raises
    ``NotFound`` for an unknown job.
    """
    found = state.job(job)
    left = found.untried
    left = left[found.all_chances[left] >= UNLIKELY]
    if not left.size:
        return Remaining(0.0, 0.0)
    best = found.best or 0.0
    posterior = found.posterior
    hopes = (posterior.improvement(best) * found.all_chances)[left]
    top = np.sort(left[np.argsort(-hopes, kind="stable")[:_ARMS]])
    deviations = _normal_draws(top.size) @ _root(posterior.covariance(top)).T
    expected = 0.0
    squares = 0.0
    for weight, mean, factor in zip(*posterior.parts, strict=True):
        draws = mean[top] + factor * deviations
        reached = posterior.prior.link.quality(draws.max(axis=1))
        gains = np.maximum(np.minimum(reached, BEST_POSSIBLE) - best, 0.0)
        expected += weight * float(gains.mean())
        squares += weight * float((gains * gains).mean())
    error = float(np.sqrt(max(squares - expected * expected, 0.0)))
    return Remaining(found.share_of_all * expected, found.share_of_all * error)


def is_little_left(expected: float, results: int, tolerance: float) -> bool:
    """Tell whether a search may rest that expects so much (``remaining``) after so many results.

    It may where the belief alone hopes for ``tolerance`` at most. That hopes for more than comes in
    the mean, but of some tables most comes late: such a search would rest too early by the mean.
    """
    return expected <= tolerance * share_of_all(results)


def settled(state: SearchState, job: str, tolerance: float) -> SearchState:
    """Return the state in which ``job`` rests, if little improvement is left for it.

    Where more is left than ``tolerance`` allows (``is_little_left``), the state stays as it is.

    A job without any result does not rest while an arm is left. New arms, new data and a raised
    budget wake it at once (``add_arms``, ``renew_job``, ``set_budget``); it rests again when this
    is asked after the next result. Raises ``NotFound`` for an unknown job.
    """
    found = state.job(job)
    expected = remaining(state, job).expected
    is_over = is_little_left(expected, len(found.finished), tolerance)
    rests = found.best is not None and is_over
    return set_resting(state, job, rests)


@lru_cache(maxsize=_ARMS)
def _normal_draws(dimensions: int) -> np.ndarray:
    """Return the same points each time, read-only: scrambling them costs more than their use."""
    from scipy.special import ndtri
    from scipy.stats import qmc

    points = qmc.Sobol(dimensions, scramble=True, rng=_SEED).random(_DRAWS)
    draws = ndtri(np.clip(points, 1e-12, 1 - 1e-12))
    draws.flags.writeable = False
    return draws


def _root(covariance: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(np.maximum(values, 0.0))
