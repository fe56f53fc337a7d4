"""All tenants' searches as one immutable value: every change returns a new one that shares what did not change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np

from easeml.errors import InvalidInput, NotFound
from easeml.search.arms import Arm
from easeml.search.improvement import expected_improvement
from easeml.search.surrogates import Posterior, Prior

LEAST_COST = 0.01  # device seconds; nothing is cheaper to start


@dataclass(frozen=True, slots=True)
class Observation:
    """A finished run: ``quality`` in validation (None: it failed), ``cost`` in device seconds."""

    job: str
    arm: int
    quality: float | None
    cost: float


@dataclass(frozen=True, eq=False)
class SearchJob:
    """One job's part of the state. Arms are indices into ``arms``; ``costs`` (K,) has the floor ``LEAST_COST``."""

    name: str
    tenant: str
    arms: tuple[Arm, ...]
    costs: np.ndarray
    posterior: Posterior
    active: bool = True
    running: tuple[int, ...] = ()
    finished: frozenset[int] = frozenset()
    failed: frozenset[int] = frozenset()
    best: float | None = None
    spent: float = 0.0

    @cached_property
    def startable(self) -> np.ndarray:
        """Indices of arms that may be started now, in order."""
        return self._without([*self.running, *self.finished, *self.failed]) if self.active else _NO_ARMS

    @cached_property
    def untried(self) -> np.ndarray:
        """Indices of arms without a result yet, those under way included."""
        return self._without([*self.finished, *self.failed])

    @cached_property
    def believed(self) -> Posterior:
        """The belief as if every arm under way came out at its mean."""
        belief = self.posterior
        for arm in self.running:
            belief = belief.believe(arm)
        return belief

    @cached_property
    def incumbent(self) -> float | None:
        """The best quality found, or believed of an arm under way; None before the first run."""
        running = [float(self.posterior.mean[arm]) for arm in self.running]
        return max([*running, *([] if self.best is None else [self.best])], default=None)

    @cached_property
    def improvement(self) -> np.ndarray:
        """Expected improvement (K,) of each arm over the incumbent."""
        best = 0.0 if self.incumbent is None else self.incumbent
        return expected_improvement(self.believed.mean, self.believed.variance, best)

    def _without(self, taken: list[int]) -> np.ndarray:
        free = np.ones(len(self.arms), dtype=bool)
        free[taken] = False
        return np.flatnonzero(free)


_NO_ARMS = np.zeros(0, dtype=int)


@dataclass(frozen=True, eq=False)
class SearchState:
    """``jobs`` by name in the order they came, ``turns``: tenant -> ``step`` at which it was last served.

    ``step`` counts the runs started so far. Two states reached by the same changes decide the same.
    """

    jobs: Mapping[str, SearchJob] = field(default_factory=lambda: MappingProxyType({}))
    turns: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    step: int = 0

    def job(self, name: str) -> SearchJob:
        """Return a job; raises ``NotFound``."""
        if name not in self.jobs:
            raise NotFound("The search has no such job.", where=f"job {name!r}")
        return self.jobs[name]

    @cached_property
    def waiting(self) -> Mapping[str, list[SearchJob]]:
        """Tenants with something to start, next turn first, each with its jobs that have startable arms."""
        found: dict[str, list[SearchJob]] = {}
        for job in self.jobs.values():
            if job.startable.size:
                found.setdefault(job.tenant, []).append(job)
        return dict(sorted(found.items(), key=lambda item: self.turns.get(item[0], 0)))


def add_job(state: SearchState, job: str, tenant: str, arms: Sequence[Arm], prior: Prior) -> SearchState:
    """Add an active job; raises ``InvalidInput`` if it is there already or the prior is of another size."""
    if job in state.jobs:
        raise InvalidInput("The search has this job already.", where=f"job {job!r}")
    if prior.mean.size != len(arms):
        raise InvalidInput(f"{len(arms)} arms, but a prior over {prior.mean.size}.", where=f"job {job!r}")
    costs = np.maximum(np.array([arm.cost for arm in arms], dtype=float), LEAST_COST)
    costs.flags.writeable = False
    return _put(state, SearchJob(job, tenant, tuple(arms), costs, Posterior.of(prior)))


def remove_job(state: SearchState, job: str) -> SearchState:
    """Forget a job; its tenant keeps its place in the round. Raises ``NotFound``."""
    state.job(job)
    jobs = {name: found for name, found in state.jobs.items() if name != job}
    return replace(state, jobs=MappingProxyType(jobs))


def set_active(state: SearchState, job: str, active: bool) -> SearchState:
    """Let a job take part or rest; raises ``NotFound``."""
    found = state.job(job)
    return state if found.active == active else _put(state, replace(found, active=active))


def started(state: SearchState, job: str, arm: int) -> SearchState:
    """Note that a run began: its arm is excluded, and its tenant goes to the end of the round.

    Raises ``NotFound`` for an unknown job, ``InvalidInput`` for an unknown arm.
    """
    found = _checked(state, job, arm)
    if arm in found.running:
        return state
    step = state.step + 1
    turned = replace(state, step=step, turns=MappingProxyType({**state.turns, found.tenant: step}))
    return _put(turned, replace(found, running=(*found.running, arm)))


def released(state: SearchState, job: str, arm: int) -> SearchState:
    """Note that a run was cancelled: its arm may be started again. Raises like ``started``."""
    found = _checked(state, job, arm)
    return _put(state, replace(found, running=tuple(a for a in found.running if a != arm)))


def observed(state: SearchState, observation: Observation) -> SearchState:
    """Note the end of a run: condition on its quality, or exclude the arm if it failed.

    A run that was never ``started`` counts as a turn of its tenant, so that a history can be fed in. Raises like
    ``started``, and ``InvalidInput`` for a quality that is not finite.
    """
    job, arm, quality = observation.job, observation.arm, observation.quality
    state = started(state, job, arm)
    found = state.job(job)
    ended = replace(found, running=tuple(a for a in found.running if a != arm), spent=found.spent + observation.cost)
    if quality is None:
        return _put(state, replace(ended, failed=found.failed | {arm}))
    if not np.isfinite(quality):
        raise InvalidInput(
            f"The quality {quality} is not finite.",
            where=f"job {job!r}, arm {arm}",
            remedy="Report a failed run with no quality.",
        )
    return _put(
        state,
        replace(
            ended,
            posterior=found.posterior.observe(arm, quality),
            finished=found.finished | {arm},
            best=quality if found.best is None else max(found.best, quality),
        ),
    )


def _checked(state: SearchState, job: str, arm: int) -> SearchJob:
    found = state.job(job)
    if not 0 <= arm < len(found.arms):
        raise InvalidInput(f"There is no arm {arm}.", where=f"job {job!r}", remedy=f"It has {len(found.arms)}.")
    return found


def _put(state: SearchState, job: SearchJob) -> SearchState:
    return replace(state, jobs=MappingProxyType({**state.jobs, job.name: job}))
