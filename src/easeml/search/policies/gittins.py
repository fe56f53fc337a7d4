"""The Gittins index of Pandora's box as acquisition."""

import math
from weakref import WeakKeyDictionary

import numpy as np

from easeml.search.jobs import SearchJob
from easeml.search.policies.base import Decision, OneByOne, Scored, decided, waiting_jobs
from easeml.search.state import SearchState
from easeml.search.surrogates import Posterior

_MOST_STEPS = 60
_EXACT = 1e-12  # of the index
_TINY = 1e-300


def gittins_index(
    belief: Posterior, costs: np.ndarray, arms: np.ndarray, price: float
) -> np.ndarray:
    """Return the quality g at which E[min(A, 1) - g]+ = ``price`` x cost, of each of ``arms``.

    Weitzman (1979); as acquisition: Xie et al., Cost-aware Bayesian optimization via the Pandora's
    box Gittins index (NeurIPS 2024), equation 5. ``costs`` (K,); ``price`` in quality a device
    second. By Newton's method on the logarithm of the expectation, whose derivative is -P(A > g) /
    E[A - g]+, inside an interval that is halved where that would leave it.
    """
    dear = price * costs[arms]
    deviation = np.sqrt(belief.variance[arms])
    high = np.ones(arms.size)
    low = index = np.minimum(belief.mean[arms], 1.0) - dear - deviation
    for _ in range(_MOST_STEPS):
        hope = np.maximum(belief.hope(arms, index), _TINY)
        chance = np.maximum(belief.chance(arms, index), _TINY)
        low = np.where(hope > dear, index, low)
        high = np.where(hope > dear, high, index)
        ahead = index + np.log(hope / dear) * hope / chance
        there = np.abs(ahead - index) < _EXACT
        if there.all():
            break
        index = np.where(there | ((ahead > low) & (ahead < high)), ahead, (low + high) / 2)
    return index


class Gittins(OneByOne):
    """The arm of any tenant whose index lies highest above the best quality of its job.

    Source: PBGI-D of Xie et al. (NeurIPS 2024): the price of a device second is halved whenever no
    index is above the best so far. That is so when no expected improvement per cost is above the
    price; the price is thus the highest power of two below all tenants' best rate. For many tenants
    it is one price for all. It promises no bound on a tenant's wait.
    """

    name = "gittins"

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[SearchJob, dict[float, np.ndarray]] = WeakKeyDictionary()

    def next(self, state: SearchState) -> Decision:
        """See ``OneByOne``."""
        jobs = waiting_jobs(state)
        rate = max(job.best_rate for job in jobs)
        price = 2.0 ** (math.ceil(math.log2(rate)) - 1) if rate > 0 else 0.0
        margins = [self._margins(job, price) for job in jobs]
        most = int(np.argmax([float(margin.max()) for margin in margins]))
        rule = "Gittins index above the best so far"
        return decided(
            self.name,
            state,
            [Scored(jobs[most], jobs[most].startable, margins[most], rule)],
            price=price,
        )

    def longest_wait(self, tenants: int) -> int | None:
        """See ``Policy``."""
        return None

    def _margins(self, job: SearchJob, price: float) -> np.ndarray:
        """Return the indices less the best so far.

        They are remembered while the job stays, since prices go back and forth.
        """
        known = self._known.setdefault(job, {})
        if price not in known:
            known[price] = _margins_at(job, price)
        return known[price]


def _margins_at(job: SearchJob, price: float) -> np.ndarray:
    if price <= 0:
        return job.improvement[job.startable]
    return gittins_index(job.believed, job.costs, job.startable, price) - job.reached


POLICIES = (Gittins(),)
