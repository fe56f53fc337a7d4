"""The interface of all policies, and the two ways to serve tenants: in turn, or by highest score."""

import heapq
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple, Protocol

import numpy as np

from easeml.search.jobs import SearchJob
from easeml.search.state import Observation, SearchState, observed, started

_EXPLAINED = 5  # arms shown in an explanation
_TENANTS_EXPLAINED = 10
_BEST_RATE = attrgetter("best_gain_rate")


class Scored(NamedTuple):
    """A job's startable ``arms`` with the ``scores`` by which ``rule`` ranks them.

    The arm with the highest score is started.
    """

    job: SearchJob
    arms: np.ndarray
    scores: np.ndarray
    rule: str


@dataclass(frozen=True)
class Decision:
    """Start ``arm`` of ``job``; ``explain`` tells why, when it is asked for."""

    job: str
    arm: int
    policy: str
    explain: Callable[[], dict[str, Any]] = field(repr=False, compare=False)

    @cached_property
    def explanation(self) -> dict[str, Any]:
        """Why this arm, as JSON: turn, rule, the best arms with scores, and tenants' gains.

        A gain is what a tenant might gain a device second.
        """
        return self.explain()


class Policy(Protocol):
    """Pure: the same state gives the same decisions, and no state is ever changed in place."""

    @property
    def name(self) -> str:
        """The name that a provider chooses it by."""
        ...

    @property
    def own_prior(self) -> bool:
        """Whether comparisons give it easeml's prior; else it gets that of its paper."""
        ...

    def decide(self, state: SearchState, free_devices: int) -> list[Decision]:
        """Return what to start now, at most one run a free device.

        The state does not count them as started.
        """
        ...

    def observe(self, state: SearchState, observation: Observation) -> SearchState:
        """Return the state after a run has ended."""
        ...

    def longest_wait(self, tenants: int) -> int | None:
        """Return within how many decisions each of ``tenants`` tenants is served.

        They are of equal priority and have something to start. None where the policy promises
        nothing.
        """
        ...


class OneByOne(ABC):
    """Decides for one free device after the other, as if what was just decided had been started."""

    name: str
    own_prior: bool = False

    @abstractmethod
    def next(self, state: SearchState) -> Decision:
        """Return the next run; something is waiting."""

    def decide(self, state: SearchState, free_devices: int) -> list[Decision]:
        """See ``Policy``."""
        decisions: list[Decision] = []
        while len(decisions) < free_devices:
            if decisions:
                state = started(state, decisions[-1].job, decisions[-1].arm)
            if not state.waiting:
                break
            decisions.append(self.next(state))
        return decisions

    def observe(self, state: SearchState, observation: Observation) -> SearchState:
        """See ``Policy``."""
        return observed(state, observation)


class TakingTurns(OneByOne):
    """Serves tenants in turn, whatever the number of their jobs; ``score`` chooses the arm.

    Every tenant gets one turn, whatever the number of their jobs.

    The tenant that was served longest ago is next; one that was never served comes first, in order
    of arrival. A higher priority shortens the time between turns. Starvation bound: among n tenants
    of equal priority with something to start, each is served within any n decisions in a row.
    """

    @abstractmethod
    def score(self, state: SearchState, jobs: Sequence[SearchJob]) -> list[Scored]:
        """Return the arms of one tenant's ``jobs`` that are to be compared.

        Each of the jobs has something to start.
        """

    def next(self, state: SearchState) -> Decision:
        """See ``OneByOne``. Ties go to the cheaper arm, then to the earlier job and arm."""
        return decided(self.name, state, self.score(state, next(iter(state.waiting.values()))))

    def longest_wait(self, tenants: int) -> int | None:
        """See ``Policy``."""
        return tenants


def decided(policy: str, state: SearchState, scored: Sequence[Scored], **reasons: Any) -> Decision:
    """Return the decision for the highest score among the jobs of one tenant.

    ``reasons``: what else explains it.

    Ties go to the cheaper arm, then to the earlier job and arm.
    """
    leaders = [(each.job, _leader(each)) for each in scored]
    job, (_, _, arm) = min(leaders, key=lambda leader: (-leader[1][0], leader[1][1]))
    return Decision(job.name, arm, policy, lambda: _explanation(state, job, scored, reasons))


def waiting_jobs(state: SearchState) -> list[SearchJob]:
    """Return the jobs with something to start, those of the tenant with the next turn first."""
    return list(chain.from_iterable(state.waiting.values()))


def never_run(jobs: Sequence[SearchJob]) -> list[SearchJob]:
    """Return the jobs of which no arm was run, or is under way."""
    return [job for job in jobs if job.incumbent is None]


def _explanation(
    state: SearchState, chosen: SearchJob, scored: Sequence[Scored], reasons: Mapping[str, Any]
) -> dict[str, Any]:
    leaders = list(chain.from_iterable(map(_leaders, scored)))
    leaders.sort(key=lambda entry: (-entry["score"], entry["cost"]))
    return {
        "step": state.step,
        "turn": {
            "tenant": chosen.tenant,
            "last_served_at_step": state.turns.get(chosen.tenant),
            "tenants_waiting": len(state.waiting),
        },
        "rule": scored[0].rule,
        "best_so_far": chosen.best,
        "arms_compared": int(sum(each.arms.size for each in scored)),
        "top": leaders[:_EXPLAINED],
        "tenants": _rates(state, chosen.tenant),
        **reasons,
    }


def _leader(scored: Scored) -> tuple[float, float, int]:
    """Return score, cost and index of the arm that ranks first."""
    job, arms, scores, _ = scored
    highest = scores.max()
    equal = arms[scores == highest]
    arm = int(equal[np.argmin(job.costs[equal])])
    return float(highest), float(job.costs[arm]), arm


def _rates(state: SearchState, served: str) -> list[dict[str, Any]]:
    """Return what waiting tenants may expect to gain a device second, the highest first.

    The tenant who is served is always among them.
    """
    rates = {tenant: max(map(_BEST_RATE, jobs)) for tenant, jobs in state.waiting.items()}
    shown = heapq.nlargest(_TENANTS_EXPLAINED, rates, key=rates.__getitem__)
    if served in rates and served not in shown:
        shown[-1] = served
    return [{"tenant": tenant, "rate": rates[tenant]} for tenant in shown]


def _leaders(scored: Scored) -> list[dict[str, Any]]:
    job, arms, scores, _ = scored
    top = np.arange(arms.size)
    if arms.size > _EXPLAINED:
        least = np.partition(scores, -_EXPLAINED)[-_EXPLAINED]
        top = np.flatnonzero(scores >= least)
    top = top[np.lexsort((arms[top], job.costs[arms[top]], -scores[top]))][:_EXPLAINED]
    shown = arms[top]
    means, variances = job.believed.about(shown)
    gains = job.gains[shown]
    told = (shown, scores[top], means, np.sqrt(variances), job.costs[shown], gains)
    leaders = []
    for arm, score, mean, sd, cost, gain in zip(*map(np.ndarray.tolist, told), strict=True):
        leader = {
            "job": job.name,
            "arm": arm,
            "name": job.arms[arm].name,
            "score": score,
            "mean": mean,
            "sd": sd,
            "cost": cost,
            "gain": gain,
        }
        leaders.append(leader)
    return leaders
