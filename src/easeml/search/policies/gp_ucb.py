"""GP-UCB with costs, tenants in turn."""

import math
from collections.abc import Sequence

import numpy as np

from easeml.search.jobs import SearchJob
from easeml.search.policies.base import Scored, TakingTurns
from easeml.search.state import SearchState

DELTA = 0.1  # the bounds hold with probability 1 - DELTA


def exploration(tenants: int, arms: int, runs: int, most: float, delta: float = DELTA) -> float:
    """Return the weight 2 c* ln(pi^2 n K* t^2 / (6 delta)) of the variance.

    Source: Li et al., PVLDB 2018, theorem 2.

    ``tenants`` n, ``arms`` K* and ``runs`` t, the coming one included, are at least 1; ``most`` is
    the highest cost c*.
    """
    return 2 * most * math.log(math.pi**2 * tenants * arms * runs**2 / (6 * delta))


def upper_bounds(state: SearchState, job: SearchJob, weight: float | None = None) -> np.ndarray:
    """Return mean + sqrt(beta / cost) sd (K,) of all arms of a job.

    ``weight`` replaces the beta of the theory.
    """
    runs = len(job.finished) + len(job.failed) + len(job.running) + 1
    most = max(each.highest_cost for each in state.jobs.values())
    arms = max(len(each.arms) for each in state.jobs.values())
    beta = exploration(len(state.jobs), arms, runs, most) if weight is None else weight * most
    return job.believed.mean + np.sqrt(beta / job.costs * job.believed.variance)


def by_upper_bounds(
    state: SearchState, jobs: Sequence[SearchJob], weight: float | None = None
) -> list[Scored]:
    """Return the startable arms of jobs with their ``upper_bounds``."""
    scored = []
    for job in jobs:
        scores = upper_bounds(state, job, weight)[job.startable]
        scored.append(Scored(job, job.startable, scores, "upper confidence bound"))
    return scored


class GPUCBRoundRobin(TakingTurns):
    """Tenants in turn; a tenant's arm with the highest upper confidence bound.

    Costs make the width of the bound narrower.

    Source: ROUNDROBIN with cost-aware GP-UCB of Li et al., Ease.ml: Towards Multi-tenant Resource
    Sharing for Machine Learning Workloads (PVLDB 2018), section 4.1; GP-UCB: Srinivas et al. (ICML
    2010).
    """

    def __init__(self, name: str = "gp-ucb-round-robin", weight: float | None = None):
        """``weight``: a fixed beta at the highest cost.

        It replaces that of the theory, which explores much more.
        """
        self.name = name
        self._weight = weight

    def score(self, state: SearchState, jobs: Sequence[SearchJob]) -> list[Scored]:
        """See ``TakingTurns``."""
        return by_upper_bounds(state, jobs, self._weight)


POLICIES = (GPUCBRoundRobin(),)
