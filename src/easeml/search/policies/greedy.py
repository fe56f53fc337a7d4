"""GREEDY and HYBRID of the ease.ml paper."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from easeml.search.jobs import SearchJob
from easeml.search.policies.base import Decision, OneByOne, Scored, decided
from easeml.search.policies.gp_ucb import upper_bounds
from easeml.search.state import Observation, SearchState, observed, remember


@dataclass(frozen=True)
class _Memory:
    """``bounds``: job -> (least upper bound of a run, gap of its last run); for how many runs
    nothing has changed.
    """

    bounds: Mapping[str, tuple[float, float]] = field(default_factory=lambda: MappingProxyType({}))
    seen: tuple[frozenset[str], float] = (frozenset(), 0.0)
    still: int = 0
    frozen: bool = False


class Greedy(OneByOne):
    """The job that may still gain most, among those whose last run left a gap of at least the
    average.

    A job's gap after a run of quality y is the least upper confidence bound of any of its runs, at
    the time it was started, less y. Source: GREEDY of Li et al., Ease.ml (PVLDB 2018), section 4.2,
    algorithm 2, with the rule of the system: the largest difference of the best upper bound now and
    the best quality so far. Every job is served once before. It promises no bound on a tenant's
    wait.
    """

    def __init__(
        self, name: str = "greedy", weight: float | None = None, freeze: int | None = None
    ):
        """``weight``: see ``GPUCBRoundRobin``; ``freeze``: runs without change after which turns
        are taken.
        """
        self.name = name
        self._weight = weight
        self._freeze = freeze

    def next(self, state: SearchState) -> Decision:
        """See ``OneByOne``."""
        memory = self._memory(state)
        if memory.frozen:
            return decided(
                self.name, state, self._scored(state, next(iter(state.waiting.values())))
            )
        jobs = [job for jobs in state.waiting.values() for job in jobs]
        fresh = [job for job in jobs if job.incumbent is None]
        if fresh:
            return decided(self.name, state, self._scored(state, fresh[:1]))
        scored = self._scored(state, self._candidates(memory, jobs))
        gaps = [float(each.scores.max()) - (each.job.incumbent or 0.0) for each in scored]
        most = int(np.argmax(gaps))
        return decided(self.name, state, [scored[most]], gap=gaps[most])

    def observe(self, state: SearchState, observation: Observation) -> SearchState:
        """See ``Policy``."""
        before = state.job(observation.job)
        after = observed(state, observation)
        if observation.quality is None:
            return after
        memory = self._memory(state)
        bound = float(upper_bounds(state, before, self._weight)[observation.arm])
        least = min(bound, memory.bounds.get(before.name, (np.inf, 0.0))[0])
        bounds = {name: gap for name, gap in memory.bounds.items() if name in after.jobs}
        bounds[before.name] = (least, least - observation.quality)
        kept = _Memory(MappingProxyType(bounds), memory.seen, memory.still, memory.frozen)
        return remember(
            after, self.name, kept if self._freeze is None else self._watched(after, kept)
        )

    def longest_wait(self, tenants: int) -> int | None:
        """See ``Policy``."""
        return None

    def _watched(self, state: SearchState, memory: _Memory) -> _Memory:
        """Freeze when the candidates and the sum of the best qualities did not change for
        ``freeze`` runs.
        """
        jobs = [job for jobs in state.waiting.values() for job in jobs]
        if memory.frozen or not jobs:
            return memory
        candidates = frozenset(job.name for job in self._candidates(memory, jobs))
        seen = (candidates, sum(job.best or 0.0 for job in state.jobs.values()))
        still = memory.still + 1 if seen == memory.seen else 0
        return _Memory(
            memory.bounds, seen, still, self._freeze is not None and still >= self._freeze
        )

    def _memory(self, state: SearchState) -> _Memory:
        return state.memory.get(self.name, _Memory())

    @staticmethod
    def _candidates(memory: _Memory, jobs: Sequence[SearchJob]) -> list[SearchJob]:
        gaps = [memory.bounds.get(job.name, (0.0, np.inf))[1] for job in jobs]
        known = [gap for gap in gaps if gap < np.inf]
        mean = float(np.mean(known)) if known else 0.0
        return [job for job, gap in zip(jobs, gaps, strict=True) if gap >= mean] or list(jobs)

    def _scored(self, state: SearchState, jobs: Sequence[SearchJob]) -> list[Scored]:
        rule = "upper confidence bound"
        return [
            Scored(job, job.startable, upper_bounds(state, job, self._weight)[job.startable], rule)
            for job in jobs
        ]


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
