"""Any arm with equal chance: the baseline that every other policy must beat."""

from collections.abc import Sequence

import numpy as np

from easeml.search.jobs import SearchJob
from easeml.search.policies.base import Scored, TakingTurns
from easeml.search.state import SearchState


class Random(TakingTurns):
    """Tenants in turn; a tenant's next arm is drawn uniformly from all its jobs' startable arms.

    The draw is a function of ``seed`` and of the number of runs started so far, so a replay repeats
    it. Source: random search (Bergstra and Bengio, JMLR 2012).
    """

    name = "random"

    def __init__(self, seed: int = 0):
        """``seed``: of all draws."""
        self._seed = seed

    def score(self, state: SearchState, jobs: Sequence[SearchJob]) -> list[Scored]:
        """See ``TakingTurns``."""
        generator = np.random.default_rng([self._seed, state.step])
        return [
            Scored(
                job,
                job.startable,
                generator.random(job.startable.size),
                f"uniform draw, seed {self._seed}",
            )
            for job in jobs
        ]


POLICIES = (Random(),)
