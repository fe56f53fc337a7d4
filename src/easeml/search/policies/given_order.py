"""Policies that look at nothing learned: order of arrival, and turns in the order of the arms."""

from collections.abc import Sequence

import numpy as np

from easeml.search.jobs import SearchJob
from easeml.search.policies.base import (
    Decision,
    OneByOne,
    Scored,
    TakingTurns,
    decided,
    waiting_jobs,
)
from easeml.search.state import SearchState


class Fifo(OneByOne):
    """The job that came first, its arms in the order given.

    The next job follows when all of them were started.

    Source: first in, first out, what a batch queue does without a scheduler. It promises no bound
    on a tenant's wait.
    """

    name = "fifo"

    def next(self, state: SearchState) -> Decision:
        """See ``OneByOne``."""
        waiting = {job.name for job in waiting_jobs(state)}
        first = next(job for name, job in state.jobs.items() if name in waiting)
        return decided(self.name, state, [_in_order(first)])

    def longest_wait(self, tenants: int) -> int | None:
        """See ``Policy``."""
        return None


class RoundRobin(TakingTurns):
    """Tenants in turn, each with its arms in the order given.

    Source: ROUNDROBIN of Li et al., Ease.ml (PVLDB 2018), section 4, without a model of the arms.
    """

    name = "round-robin"

    def score(self, state: SearchState, jobs: Sequence[SearchJob]) -> list[Scored]:
        """See ``TakingTurns``."""
        return [_in_order(jobs[0])]


def _in_order(job: SearchJob) -> Scored:
    return Scored(
        job,
        job.startable,
        -np.asarray(job.startable, dtype=float),
        "first of the arms in the order given",
    )


POLICIES = (Fifo(), RoundRobin())
