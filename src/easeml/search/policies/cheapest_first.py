"""The cheapest arm first, whatever it may be good for."""

from collections.abc import Sequence

from easeml.search.jobs import SearchJob
from easeml.search.policies.base import Scored, TakingTurns
from easeml.search.state import SearchState


class CheapestFirst(TakingTurns):
    """Tenants in turn; a tenant's arm of least predicted cost.

    Source: the greedy baseline on cost alone; no paper.
    """

    name = "cheapest-first"

    def score(self, state: SearchState, jobs: Sequence[SearchJob]) -> list[Scored]:
        """See ``TakingTurns``."""
        return [
            Scored(job, job.startable, -job.costs[job.startable], "least predicted cost")
            for job in jobs
        ]


POLICIES = (CheapestFirst(),)
