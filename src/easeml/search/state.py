"""All tenants' searches as one immutable value.

Every change returns a new one that shares what did not change.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from operator import attrgetter
from types import MappingProxyType
from typing import Any

import numpy as np

from easeml.errors import InvalidInput, NotFound
from easeml.search.arms import Arm
from easeml.search.checks import require
from easeml.search.jobs import Budget, SearchJob, Terms, is_reached
from easeml.search.surrogates import Posterior, Prior

LEAST_COST = 0.01  # device seconds; nothing is cheaper to start
_USUAL = Terms()


@dataclass(frozen=True, slots=True)
class Observation:
    """A finished run: ``quality`` in validation (None: it failed), ``cost`` in device seconds.

    ``charge``: what the run is charged at; None: as many units as device seconds.
    """

    job: str
    arm: int
    quality: float | None
    cost: float
    charge: float | None = None


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, eq=False)
class SearchState:
    """The searches of all tenants.

    ``jobs`` by name in the order they came; ``turns``: tenant -> ``step`` at which it was last
    served. ``step`` counts the runs started so far; ``now`` is the present moment; ``terms``:
    tenant -> what it may use, where that is not the usual; ``memory``: policy -> what it must
    remember. Two states reached by the same changes decide the same.
    """

    jobs: Mapping[str, SearchJob] = field(default_factory=_nothing)
    turns: Mapping[str, int] = field(default_factory=_nothing)
    step: int = 0
    now: float = 0.0
    terms: Mapping[str, Terms] = field(default_factory=_nothing)
    memory: Mapping[str, Any] = field(default_factory=_nothing)

    def job(self, name: str) -> SearchJob:
        """Return a job; raises ``NotFound``."""
        if name not in self.jobs:
            raise NotFound(
                "The search has no such job.",
                where=f"job {name!r}",
            )
        return self.jobs[name]

    def priority(self, tenant: str) -> float:
        """Return the priority of a tenant."""
        return self.terms.get(tenant, _USUAL).priority

    @cached_property
    def waiting(self) -> Mapping[str, list[SearchJob]]:
        """Tenants with something to start, next turn first, each with its jobs that have any.

        A tenant is due again after as many runs as there are tenants here, divided by its share of
        their priorities.
        """
        found: dict[str, list[SearchJob]] = {}
        for job in self.jobs.values():
            if job.startable.size:
                found.setdefault(job.tenant, []).append(job)

        if self.terms:
            order = self._by_share(found)
        else:
            # All are equal: the common case, and one to be quick in.
            turns = self.turns
            order = sorted(found, key=lambda tenant: turns.get(tenant, 0))
        return {tenant: found[tenant] for tenant in order}

    def _by_share(self, tenants: Iterable[str]) -> list[str]:
        """Return the tenants that may use more, in the order in which they are due."""
        entitled = [tenant for tenant in tenants if not self._used_up(tenant)]
        total = sum(map(self.priority, entitled))
        due = {}
        for tenant in entitled:
            round_of_turns = total / self.priority(tenant)
            due[tenant] = self.turns.get(tenant, 0) + round_of_turns
        return sorted(entitled, key=due.__getitem__)

    def urgent(self, raised: Collection[str] = ()) -> list[str]:
        """Return the jobs that should get a device at once, by name, in the order of ``waiting``.

        They are those that never had a run, and those of tenants whose priority was ``raised``.
        """
        jobs = chain.from_iterable(self.waiting.values())
        return [job.name for job in jobs if job.tenant in raised or job.runs == 0]

    def only(self, jobs: Collection[str]) -> "SearchState":
        """Return what there would be to decide if there were no other jobs."""
        kept = {name: job for name, job in self.jobs.items() if name in jobs}
        return replace(self, jobs=MappingProxyType(kept))

    def _used_up(self, tenant: str) -> bool:
        """Whether a tenant has all the devices or device seconds that it may have."""
        terms = self.terms.get(tenant, _USUAL)
        if terms.devices is None and terms.seconds is None:
            return False

        own = [job for job in self.jobs.values() if job.tenant == tenant]
        running = sum(map(len, map(attrgetter("running"), own)))
        spent = sum(map(attrgetter("spent"), own))
        ahead = sum(map(attrgetter("ahead"), own))
        return is_reached(terms.devices, running) or is_reached(terms.seconds, spent + ahead)


def add_job(
    state: SearchState,
    job: str,
    tenant: str,
    arms: Sequence[Arm],
    prior: Prior,
    *,
    budget: Budget | None = None,
    deadline: float = math.inf,
    overhead: float = 0.0,
) -> SearchState:
    """Add an active job; ``overhead`` as in ``SearchJob``.

    Raises ``InvalidInput`` if it is there already or the prior is of another size.
    """
    require(
        job not in state.jobs,
        "The search has this job already.",
        where=f"job {job!r}",
    )
    costs = _costs(job, arms, prior)
    added = SearchJob(
        job,
        tenant,
        tuple(arms),
        costs,
        Posterior.of(prior),
        budget=budget or Budget(),
        deadline=deadline,
        now=state.now,
        overhead=overhead,
    )
    return _put(state, added)


def add_arms(state: SearchState, job: str, arms: Sequence[Arm], prior: Prior) -> SearchState:
    """Add arms at the end of a job's, with a prior over all of them; a job at rest wakes.

    What was observed stays.

    Costs as ``Posterior.under``. Raises ``NotFound``, and ``InvalidInput`` like ``add_job``.
    """
    found = state.job(job)
    all_arms = (*found.arms, *arms)
    costs = _costs(job, all_arms, prior)
    grown = replace(
        found,
        arms=all_arms,
        costs=costs,
        posterior=found.posterior.under(prior),
        resting=False,
    )
    return _put(state, grown)


def renew_job(state: SearchState, job: str, prior: Prior) -> SearchState:
    """Start a job again on new data; a job at rest wakes.

    No arm was tried, runs under way go on, and what was spent stays.

    Raises ``NotFound``, and ``InvalidInput`` like ``add_job``.
    """
    found = state.job(job)
    costs = _costs(job, found.arms, prior)
    fresh = {"finished": frozenset(), "failed": frozenset(), "best": None, "resting": False}
    return _put(
        state,
        replace(
            found,
            costs=costs,
            posterior=Posterior.of(prior),
            **fresh,
        ),
    )


def set_prior(state: SearchState, job: str, prior: Prior) -> SearchState:
    """Change what was believed of a job's arms before any run; what was observed stays.

    Raises like ``add_arms``.
    """
    found = state.job(job)
    if prior is found.posterior.prior:
        return state
    _costs(job, found.arms, prior)
    return _put(state, replace(found, posterior=found.posterior.under(prior)))


def set_costs(state: SearchState, job: str, costs: Sequence[tuple[int, float]]) -> SearchState:
    """Change what some arms of a job are predicted to cost: index and device seconds of each.

    Raises ``NotFound``, and ``InvalidInput`` for an arm that there is not or a cost that is no
    number of seconds.
    """
    found = state.job(job)
    arms = list(found.arms)
    predicted = np.array(found.costs)
    for arm, cost in costs:
        _checked(state, job, arm)
        before = arms[arm]  # thousands follow each result: ``replace`` takes three times as long
        arms[arm] = Arm(before.name, before.model, cost, before.features)
        predicted[arm] = max(cost, LEAST_COST)
    predicted.flags.writeable = False
    return _put(state, replace(found, arms=tuple(arms), costs=predicted))


def set_chances(
    state: SearchState, job: str, chances: Sequence[float], best: float | None
) -> SearchState:
    """Change how likely the arms of a job keep its rules, and the best quality of those that did.

    ``chances``: of its first arms, the others keep them for sure; none: the job has no rules. A job
    at rest wakes. Raises ``NotFound``, and ``InvalidInput`` for what is no probability or for more
    of them than there are arms.
    """
    found = state.job(job)
    are_shares = all(0 <= one <= 1 for one in chances)
    require(
        are_shares and len(chances) <= len(found.arms),
        "There is a probability for each arm.",
        where=f"job {job!r}",
    )
    return _put(state, replace(found, chances=tuple(chances), best=best, resting=False))


def set_budget(state: SearchState, job: str, budget: Budget) -> SearchState:
    """Change what a job may use up; a job at rest wakes. Raises ``NotFound``."""
    return _put(state, replace(state.job(job), budget=budget, resting=False))


def set_deadline(state: SearchState, job: str, deadline: float) -> SearchState:
    """Change the moment by which a job's runs have to end. Raises ``NotFound``."""
    return _put(state, replace(state.job(job), deadline=deadline, now=state.now))


def set_terms(state: SearchState, tenant: str, terms: Terms) -> SearchState:
    """Change the share of a tenant."""
    return replace(state, terms=MappingProxyType({**state.terms, tenant: terms}))


def set_now(state: SearchState, now: float) -> SearchState:
    """Move to a moment; it matters to jobs with a deadline only."""
    moved = replace(state, now=now)
    late = [job for job in state.jobs.values() if job.deadline < math.inf]
    if not late:
        return moved

    told = {job.name: replace(job, now=now) for job in late}
    return replace(moved, jobs=MappingProxyType({**state.jobs, **told}))


def remove_job(state: SearchState, job: str) -> SearchState:
    """Forget a job; its tenant keeps its place in the round. Raises ``NotFound``."""
    state.job(job)
    jobs = {name: found for name, found in state.jobs.items() if name != job}
    return replace(state, jobs=MappingProxyType(jobs))


def set_active(state: SearchState, job: str, active: bool) -> SearchState:
    """Let a job take part or not; raises ``NotFound``."""
    found = state.job(job)
    if found.active == active:
        return state
    return _put(state, replace(found, active=active))


def set_resting(state: SearchState, job: str, resting: bool) -> SearchState:
    """Note that a job has converged, or has not; raises ``NotFound``."""
    found = state.job(job)
    if found.resting == resting:
        return state
    return _put(state, replace(found, resting=resting))


def remember(state: SearchState, policy: str, value: Any) -> SearchState:
    """Keep what a policy must know at its next decision; ``value`` is never changed in place."""
    return replace(state, memory=MappingProxyType({**state.memory, policy: value}))


def started(state: SearchState, job: str, arm: int) -> SearchState:
    """Note that a run began: its arm is excluded, and its tenant goes to the end of the round.

    Raises ``NotFound`` for an unknown job, ``InvalidInput`` for an unknown arm.
    """
    found = _checked(state, job, arm)
    if arm in found.running:
        return state

    step = state.step + 1
    turns = {**state.turns, found.tenant: step}
    turned = replace(state, step=step, turns=MappingProxyType(turns))
    return _put(turned, replace(found, running=(*found.running, arm)))


def released(state: SearchState, job: str, arm: int, seconds: float = 0.0) -> SearchState:
    """Note that a run was cancelled after ``seconds``: its arm may be started again.

    Raises like ``started``.
    """
    found = _checked(state, job, arm)
    others = tuple(running for running in found.running if running != arm)
    return _put(state, replace(found, running=others, spent=found.spent + seconds))


def observed(state: SearchState, observation: Observation) -> SearchState:
    """Note the end of a run: condition on its quality, or exclude the arm if it failed.

    A run that was never ``started`` counts as a turn of its tenant, so that a history can be fed
    in. Raises like ``started``, and ``InvalidInput`` for a quality that is not finite.
    """
    job, arm, quality = observation.job, observation.arm, observation.quality
    state = started(state, job, arm)
    require(
        quality is None or math.isfinite(quality),
        f"The quality {quality} is not finite.",
        where=f"job {job!r}, arm {arm}",
        remedy="Report a failed run with no quality.",
    )
    charge = observation.cost if observation.charge is None else observation.charge
    return _put(state, state.job(job).with_result(arm, quality, observation.cost, charge))


def _costs(job: str, arms: Sequence[Arm], prior: Prior) -> np.ndarray:
    require(
        prior.mean.size == len(arms),
        f"{len(arms)} arms, but a prior over {prior.mean.size}.",
        where=f"job {job!r}",
    )
    costs = np.maximum(np.array([arm.cost for arm in arms], dtype=float), LEAST_COST)
    costs.flags.writeable = False
    return costs


def _checked(state: SearchState, job: str, arm: int) -> SearchJob:
    found = state.job(job)
    if not 0 <= arm < len(found.arms):
        raise InvalidInput(
            f"There is no arm {arm}.",
            where=f"job {job!r}",
            remedy=f"It has {len(found.arms)}.",
        )
    return found


def _put(state: SearchState, job: SearchJob) -> SearchState:
    return replace(state, jobs=MappingProxyType({**state.jobs, job.name: job}))
