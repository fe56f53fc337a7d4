"""GREEDY and HYBRID of the ease.ml paper."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from easeml.search.jobs import SearchJob
from easeml.search.policies.base import (
    Decision,
    OneByOne,
    Scored,
    decided,
    never_run,
    waiting_jobs,
)
from easeml.search.policies.gp_ucb import by_upper_bounds, upper_bounds
from easeml.search.state import Observation, SearchState, observed, remember


@dataclass(frozen=True)
class _Memory:
    """What is kept from run to run.

    ``bounds``: job -> (least upper bound of a run, gap of its last run). ``seen``: the candidates
    and the sum of the best qualities; ``still``: for how many runs these have not changed.
    """

    bounds: Mapping[str, tuple[float, float]] = field(default_factory=lambda: MappingProxyType({}))
    seen: tuple[frozenset[str], float] = (frozenset(), 0.0)
    still: int = 0
    frozen: bool = False

    def gap(self, job: str) -> float:
        """Return the gap that the last run of a job left; infinity before one."""
        _, gap = self.bounds.get(job, (0.0, np.inf))
        return gap


class Greedy(OneByOne):
    """The job that may still gain most, among those that a last run left an average gap or more.

    A job's gap after a run of quality y is the least upper confidence bound of any of its runs, at
    the time it was started, less y. Source: GREEDY of Li et al., Ease.ml (PVLDB 2018), section 4.2,
    algorithm 2, with the rule of the system: the largest difference of the best upper bound now and
    the best quality so far. Every job is served once before. It promises no bound on a tenant's
    wait.
    """

    def __init__(
        self, name: str = "greedy", weight: float | None = None, freeze: int | None = None
    ):
        """``weight``: see ``GPUCBRoundRobin``.

        ``freeze``: runs without change after which turns are taken.
        """
        self.name = name
        self._weight = weight
        self._freeze = freeze

    def next(self, state: SearchState) -> Decision:
        """See ``OneByOne``."""
        memory = self._memory(state)
        if memory.frozen:
            next_turn = next(iter(state.waiting.values()))
            return decided(self.name, state, self._scored(state, next_turn))

        jobs = waiting_jobs(state)
        fresh = never_run(jobs)
        if fresh:
            return decided(self.name, state, self._scored(state, fresh[:1]))

        scored = self._scored(state, self._candidates(memory, jobs))
        gaps = [float(each.scores.max()) - each.job.reached for each in scored]
        most = int(np.argmax(gaps))
        return decided(self.name, state, [scored[most]], gap=gaps[most])

    def observe(self, state: SearchState, observation: Observation) -> SearchState:
        """See ``Policy``."""
        before = state.job(observation.job)
        after = observed(state, observation)
        if observation.quality is None:
            return after

        # The bound at the time at which the run was started.
        memory = self._memory(state)
        bound = float(upper_bounds(state, before, self._weight)[observation.arm])
        least_so_far, _ = memory.bounds.get(before.name, (np.inf, 0.0))
        least = min(bound, least_so_far)

        bounds = {name: gap for name, gap in memory.bounds.items() if name in after.jobs}
        bounds[before.name] = (least, least - observation.quality)
        kept = replace(memory, bounds=MappingProxyType(bounds))
        if self._freeze is not None:
            kept = self._watched(after, kept, self._freeze)
        return remember(after, self.name, kept)

    def longest_wait(self, tenants: int) -> int | None:
        """See ``Policy``."""
        return None

    def _watched(self, state: SearchState, memory: _Memory, freeze: int) -> _Memory:
        """Freeze when candidates and the sum of best qualities did not change for ``freeze`` runs."""
        jobs = waiting_jobs(state)
        if memory.frozen or not jobs:
            return memory

        candidates = frozenset(job.name for job in self._candidates(memory, jobs))
        total = sum(job.best or 0.0 for job in state.jobs.values())
        seen = (candidates, total)
        still = memory.still + 1 if seen == memory.seen else 0
        return _Memory(
            bounds=memory.bounds,
            seen=seen,
            still=still,
            frozen=still >= freeze,
        )

    def _memory(self, state: SearchState) -> _Memory:
        return state.memory.get(self.name, _Memory())

    @staticmethod
    def _candidates(memory: _Memory, jobs: Sequence[SearchJob]) -> list[SearchJob]:
        """Return the jobs with a gap of at least the mean of those known; all if there are none."""
        gaps = np.array([memory.gap(job.name) for job in jobs])
        known = gaps[gaps < np.inf]
        mean = known.sum() / max(1, known.size)
        chosen = [jobs[place] for place in np.flatnonzero(gaps >= mean).tolist()]
        return chosen or list(jobs)

    def _scored(self, state: SearchState, jobs: Sequence[SearchJob]) -> list[Scored]:
        return by_upper_bounds(state, jobs, self._weight)


class Hybrid(Greedy):
    """GREEDY until it freezes, then turns: what the ease.ml paper runs by default.

    It is frozen when the candidates and the sum of the best qualities have not changed for 10 runs
    in a row. Source: HYBRID of Li et al., Ease.ml (PVLDB 2018), section 4.4. Before it freezes it
    promises no bound on a tenant's wait.
    """

    def __init__(self, name: str = "hybrid", weight: float | None = None, freeze: int = 10):
        """``weight``: see ``GPUCBRoundRobin``; ``freeze``: the number of runs without change."""
        super().__init__(name, weight, freeze)


POLICIES = (Greedy(), Hybrid())
