"""Round robin over tenants, expected improvement per predicted cost within a tenant."""

from collections.abc import Sequence

import numpy as np

from easeml.search.jobs import SearchJob
from easeml.search.policies.base import Scored, TakingTurns, never_run
from easeml.search.state import SearchState


class EIPerCostRoundRobin(TakingTurns):
    """Tenants in turn; a tenant's best expected improvement per device second over all its jobs.

    Expected improvement per unit of cost: Snoek, Larochelle, Adams, Practical Bayesian Optimization
    (NeurIPS 2012), section 3.2; for many tenants and devices Yu et al. (AISTATS 2019). Arms under
    way count as if they came out at their means. A job without any run yet goes first, with its
    cheapest sensible arm: one that may still be better than the arm with the best mean (within two
    standard deviations of their difference). So a first model is there soon.
    """

    name = "ei-per-cost-round-robin"
    own_prior = True

    def score(self, state: SearchState, jobs: Sequence[SearchJob]) -> list[Scored]:
        """See ``TakingTurns``."""
        fresh = never_run(jobs)
        if fresh:
            return list(map(_warm_start, fresh))
        return list(map(_improvement_rate, jobs))


def _warm_start(job: SearchJob) -> Scored:
    arms = job.startable
    prior = job.posterior.prior
    favourite = arms[np.argmax(prior.mean[arms])]
    variance = np.diagonal(prior.covariance)
    difference = variance[arms] + variance[favourite] - 2 * prior.covariance[favourite, arms]
    behind = prior.mean[favourite] - prior.mean[arms]
    sensible = arms[behind <= 2 * np.sqrt(np.maximum(difference, 0.0))]
    return Scored(job, sensible, -job.costs[sensible], "cheapest sensible arm first")


def _improvement_rate(job: SearchJob) -> Scored:
    return Scored(job, job.startable, job.rates, "expected improvement per device second")


POLICIES = (EIPerCostRoundRobin(),)
