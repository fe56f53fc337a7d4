"""Expected improvement per cost over all tenants, and to the tenant that had least."""

from easeml.search.policies.base import (
    Decision,
    OneByOne,
    Scored,
    decided,
    never_run,
    waiting_jobs,
)
from easeml.search.state import SearchState

RULE = "expected improvement per device second"


class EIRate(OneByOne):
    """The arm of any tenant with the highest expected improvement per cost.

    Runs under way count at their means.

    Source: MM-GP-EI of Yu et al., Multi-tenant, multi-device Gaussian process expected improvement
    (AISTATS 2019), algorithm 1, for models that one tenant has for itself. As there, the cheaper
    arms of every job are run first: the cheapest one here. It promises no bound on a tenant's wait.
    """

    name = "ei-rate"

    def next(self, state: SearchState) -> Decision:
        """See ``OneByOne``."""
        jobs = waiting_jobs(state)
        fresh = never_run(jobs)
        if fresh:
            job = fresh[0]
            return decided(
                self.name,
                state,
                [Scored(job, job.startable, -job.costs[job.startable], "cheapest first")],
            )
        best = max(jobs, key=lambda job: job.best_rate * state.priority(job.tenant))
        return decided(self.name, state, [Scored(best, best.startable, best.rates, RULE)])

    def longest_wait(self, tenants: int) -> int | None:
        """See ``Policy``."""
        return None


class MaxMinFair(OneByOne):
    """The tenant that has used least, for its priority.

    It gets its arm with the highest expected improvement per cost.

    Source: max-min fairness by progressive filling (Bertsekas and Gallager, Data Networks, 1992,
    section 6.5.2), with device seconds as what is shared; runs under way count with their predicted
    cost. A tenant's wait is bounded in device seconds, not in decisions: nobody gets more than one
    run ahead of a tenant that waits.
    """

    name = "max-min-fair"

    def next(self, state: SearchState) -> Decision:
        """See ``OneByOne``."""
        used = dict.fromkeys(state.waiting, 0.0)
        for job in state.jobs.values():
            if job.tenant not in used:
                continue
            ahead = float(job.costs[list(job.running)].sum())
            seconds = job.spent + ahead
            used[job.tenant] += seconds / state.priority(job.tenant)

        least = min(state.waiting, key=used.__getitem__)
        scored = [Scored(job, job.startable, job.rates, RULE) for job in state.waiting[least]]
        return decided(self.name, state, scored, used=used[least])

    def longest_wait(self, tenants: int) -> int | None:
        """See ``Policy``."""
        return None


POLICIES = (EIRate(), MaxMinFair())
