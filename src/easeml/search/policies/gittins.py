"""The Gittins index of Pandora's box as acquisition."""

import math
from weakref import WeakKeyDictionary

import numpy as np

from easeml.search.jobs import SearchJob
from easeml.search.policies.base import Decision, OneByOne, Scored, decided
from easeml.search.state import SearchState
from easeml.search.surrogates import Posterior

_HALVINGS = 40  # of the interval that holds the index


def gittins_index(belief: Posterior, costs: np.ndarray, arms: np.ndarray, price: float) -> np.ndarray:
    """Return the quality g at which E[min(A, 1) - g]+ = ``price`` x cost, of each of ``arms``.

    Weitzman (1979); as acquisition: Xie et al., Cost-aware Bayesian optimization via the Pandora's box Gittins index
    (NeurIPS 2024), equation 5. ``costs`` (K,); ``price`` in quality a device second. By bisection.
    """
    dear = price * costs[arms]
    deviation = np.sqrt(belief.variance[arms])
    high = np.ones(arms.size)
    low = np.minimum(belief.mean[arms], 1.0) - dear - deviation
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        hope = belief.hope(arms, middle)
        low, high = np.where(hope > dear, middle, low), np.where(hope > dear, high, middle)
    return low


class Gittins(OneByOne):
    """The arm of any tenant whose index lies highest above the best quality of its job.

    Source: PBGI-D of Xie et al. (NeurIPS 2024): the price of a device second is halved whenever no index is above the
    best so far. That is so when no expected improvement per cost is above the price; the price is thus the highest
    power of two below all tenants' best rate. For many tenants it is one price for all. It promises no bound on a
    tenant's wait.
    """

    name = "gittins"

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[SearchJob, tuple[float, np.ndarray]] = WeakKeyDictionary()

    def next(self, state: SearchState) -> Decision:
        """See ``OneByOne``."""
        jobs = [job for jobs in state.waiting.values() for job in jobs]
        rate = max(job.best_rate for job in jobs)
        price = 2.0 ** (math.ceil(math.log2(rate)) - 1) if rate > 0 else 0.0
        margins = [self._margins(job, price) for job in jobs]
        most = int(np.argmax([float(margin.max()) for margin in margins]))
        rule = "Gittins index above the best so far"
        return decided(self.name, state, [Scored(jobs[most], jobs[most].startable, margins[most], rule)], price=price)

    def longest_wait(self, tenants: int) -> int | None:
        """See ``Policy``."""
        return None

    def _margins(self, job: SearchJob, price: float) -> np.ndarray:
        """The indices less the best so far; remembered while job and price stay."""
        known = self._known.get(job)
        if known is None or known[0] != price:
            if price > 0:
                margins = gittins_index(job.believed, job.costs, job.startable, price) - (job.incumbent or 0.0)
            else:
                margins = job.improvement[job.startable]
            known = self._known[job] = (price, margins)
        return known[1]
