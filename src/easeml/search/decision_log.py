"""The log of decisions: every change of what a policy sees, as JSON, in the order in which they came.

The scheduler changes what it sees only by such changes, and writes them down beside its decisions.
So what is read back from the log is what the scheduler saw, bit for bit: the same function made
both, from the same values.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import starmap
from types import MappingProxyType
from typing import Any, NamedTuple

from easeml.errors import InvalidInput
from easeml.search import state as states
from easeml.search.arms import Arm
from easeml.search.evidence import learned_beside
from easeml.search.jobs import Budget, Terms
from easeml.search.policies import Policy, policy_named
from easeml.search.preemption import OnDevice, rule_named, to_suspend
from easeml.search.prior import Learned, PastRun
from easeml.search.state import Observation, SearchState

Values = Mapping[str, Any]


class Change(NamedTuple):
    """One change, or one decision: its kind and its values, which are plain JSON."""

    kind: str
    values: Values


class FinishedRun(NamedTuple):
    """A finished run of any tenant, that beliefs are learned from.

    ``created``: of its job, in seconds of the epoch.
    """

    job: str
    created: float
    model: str
    features: tuple[float, ...]
    quality: float

    @classmethod
    def of(
        cls, job: str, created: float, model: str, features: Sequence[float], quality: float
    ) -> "FinishedRun":
        """Return the run that a change ``set_runs`` tells."""
        return cls(job, created, model, tuple(features), quality)

    @property
    def lesson(self) -> PastRun:
        """What ``learned`` takes."""
        return self.job, self.model, self.features, self.quality


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Seen:
    """What a policy sees.

    ``policy``: its name. ``runs``: by an id that orders them, the finished runs of all tenants.
    ``learned``: job -> what its belief comes from. ``histories``: job -> runs that its application was
    given, which teach no other job.
    """

    state: SearchState = field(default_factory=SearchState)
    policy: str = "default"
    runs: Mapping[str, FinishedRun] = field(default_factory=_nothing)
    learned: Mapping[str, Learned] = field(default_factory=_nothing)
    histories: Mapping[str, Sequence[PastRun]] = field(default_factory=_nothing)


class Decided(NamedTuple):
    """A decision of the log: what was ``seen``, how many devices were ``free``, what was chosen.

    ``choices``: (job, arm) in order. ``place``: of the decision among all changes, from 0.
    ``urgent``: the jobs that were chosen from because they were urgent; None: all.
    """

    place: int
    seen: Seen
    free: int
    choices: list[tuple[str, int]]
    urgent: list[str] | None = None

    def again(self, policy: Policy | None = None) -> list[tuple[str, int]]:
        """Return what a policy chooses from what was seen; by default the one that decided."""
        chosen = policy or policy_named(self.seen.policy)
        state = self.seen.state
        if self.urgent is not None:
            state = state.only(self.urgent)
        return [(one.job, one.arm) for one in chosen.decide(state, self.free)]


class Preempted(NamedTuple):
    """A decision of the log by which tasks were asked to end: ``rule``, what it saw and chose."""

    rule: str
    wanted: int
    running: list[OnDevice]
    chosen: list[str]

    def again(self) -> list[str]:
        """Return which tasks the rule chooses from what it saw."""
        return to_suspend(rule_named(self.rule), self.wanted, self.running)


def applied(seen: Seen, change: Change) -> Seen:
    """Return what is seen after a change.

    Raises ``InvalidInput`` for a kind that there is not, and what the functions of ``state`` raise.
    """
    act = _KINDS.get(change.kind)
    if act is None:
        raise InvalidInput(
            f"The log has a change of an unknown kind, {change.kind!r}.",
            where="log of decisions",
            remedy="It was written by another release: read it with that one.",
        )
    return act(seen, **change.values)


def decisions_of(log: Iterable[Change]) -> Iterator[Decided]:
    """Go through the log of one scheduler from its start, and give each decision of it.

    Raises like ``applied``.
    """
    seen = Seen()
    for place, change in enumerate(log):
        if change.kind == "decided":
            choices = [(job, arm) for job, arm in change.values["choices"]]
            urgent = change.values.get("urgent")
            yield Decided(place, seen, change.values["free"], choices, urgent)
        seen = applied(seen, change)


def preemptions_of(log: Iterable[Change]) -> Iterator[Preempted]:
    """Give each decision of a log by which tasks were asked to end, in order."""
    for change in log:
        if change.kind == "preempted":
            told = dict(change.values)
            running = list(starmap(OnDevice, told.pop("running")))
            yield Preempted(**told, running=running)


def told_runs(known: Mapping[str, FinishedRun], runs: Mapping[str, FinishedRun]) -> dict[str, Any]:
    """Return what a change ``set_runs`` has to tell so that ``runs`` are known: what differs."""
    gone = dict.fromkeys(known.keys() - runs.keys())
    new = {id: run for id, run in runs.items() if known.get(id) != run}
    return {**gone, **new}


def told_arms(arms: Iterable[Arm]) -> list[dict[str, Any]]:
    """Return arms as JSON."""
    return list(map(asdict, arms))


def arms_of(told: Sequence[Values]) -> list[Arm]:
    """Return the arms that ``told_arms`` told."""
    return [Arm(**{**one, "features": tuple(one["features"])}) for one in told]


def _add_job(
    seen: Seen,
    job: str,
    tenant: str,
    arms: Sequence[Values],
    budget: Values,
    deadline: float | None,
    since: float,
    history: Sequence[Any] = (),
    overhead: float = 0.0,
) -> Seen:
    seen = _with_history(seen, job, history)
    read = arms_of(arms)
    learned = _learned(seen, job, read, since)
    state = states.add_job(
        seen.state,
        job,
        tenant,
        read,
        learned.over(read),
        budget=Budget(**budget),
        deadline=_moment(deadline),
        overhead=overhead,
    )
    return _with_learned(replace(seen, state=state), job, learned)


def _add_arms(seen: Seen, job: str, arms: Sequence[Values], since: float | None) -> Seen:
    """The belief grows by new arms; with ``since`` it is learned anew."""
    new = arms_of(arms)
    before = seen.state.job(job)
    learned = seen.learned[job]
    if since is None:
        prior = learned.extended(before.posterior.prior, before.arms, new)
    else:
        every = [*before.arms, *new]
        learned = _learned(seen, job, every, since)
        prior = learned.over(every)
    grown = replace(seen, state=states.add_arms(seen.state, job, new, prior))
    return _with_learned(grown, job, learned)


def _set_prior(seen: Seen, job: str, since: float) -> Seen:
    arms = seen.state.job(job).arms
    learned = _learned(seen, job, arms, since)
    changed = replace(seen, state=states.set_prior(seen.state, job, learned.over(arms)))
    return _with_learned(changed, job, learned)


def _set_history(seen: Seen, job: str, history: Sequence[Any], since: float) -> Seen:
    """A job is given other runs to learn from; its belief is learned anew."""
    return _set_prior(_with_history(seen, job, history), job, since)


def _with_history(seen: Seen, job: str, history: Sequence[Any]) -> Seen:
    runs: list[PastRun] = []
    for study, model, features, quality in history:
        runs.append((study, model, tuple(features), quality))
    kept = {name: known for name, known in seen.histories.items() if name != job}
    if runs:
        kept[job] = runs
    return replace(seen, histories=MappingProxyType(kept))


def _remove_job(seen: Seen, job: str) -> Seen:
    rest = {name: learned for name, learned in seen.learned.items() if name != job}
    state = states.remove_job(seen.state, job)
    kept = replace(seen, state=state, learned=MappingProxyType(rest))
    return _with_history(kept, job, ())


def _set_runs(seen: Seen, runs: Mapping[str, Sequence[Any] | None]) -> Seen:
    known = dict(seen.runs)
    for id, run in runs.items():
        if run is None:
            known.pop(id, None)
            continue
        known[id] = FinishedRun.of(*run)
    return replace(seen, runs=MappingProxyType(known))


def _observed(seen: Seen, **observation: Any) -> Seen:
    policy = policy_named(seen.policy)
    return replace(seen, state=policy.observe(seen.state, Observation(**observation)))


def _set_policy(seen: Seen, policy: str) -> Seen:
    return replace(seen, policy=policy)


def _decided(seen: Seen, **decision: Any) -> Seen:
    """A decision changes nothing; what comes of it is told by ``started``."""
    return seen


def _preempted(seen: Seen, **decision: Any) -> Seen:
    """Who was asked to end still runs, or waits again; a result is told by ``observed``."""
    return seen


def _started(seen: Seen, job: str, arm: int, task: str) -> Seen:
    return replace(seen, state=states.started(seen.state, job, arm))


def _released(seen: Seen, job: str, arm: int, seconds: float) -> Seen:
    return replace(seen, state=states.released(seen.state, job, arm, seconds))


def _set_budget(seen: Seen, job: str, **budget: Any) -> Seen:
    return replace(seen, state=states.set_budget(seen.state, job, Budget(**budget)))


def _set_costs(seen: Seen, job: str, costs: Sequence[tuple[int, float]]) -> Seen:
    return replace(seen, state=states.set_costs(seen.state, job, costs))


def _set_chances(seen: Seen, job: str, chances: Sequence[float], best: float | None) -> Seen:
    return replace(seen, state=states.set_chances(seen.state, job, chances, best))


def _set_deadline(seen: Seen, job: str, deadline: float | None) -> Seen:
    return replace(seen, state=states.set_deadline(seen.state, job, _moment(deadline)))


def _set_terms(seen: Seen, tenant: str, **terms: Any) -> Seen:
    return replace(seen, state=states.set_terms(seen.state, tenant, Terms(**terms)))


def _set_now(seen: Seen, now: float) -> Seen:
    return replace(seen, state=states.set_now(seen.state, now))


def _set_active(seen: Seen, job: str, active: bool) -> Seen:
    return replace(seen, state=states.set_active(seen.state, job, active))


_KINDS: dict[str, Callable[..., Seen]] = {
    "add_arms": _add_arms,
    "add_job": _add_job,
    "decided": _decided,
    "observed": _observed,
    "preempted": _preempted,
    "released": _released,
    "remove_job": _remove_job,
    "set_active": _set_active,
    "set_budget": _set_budget,
    "set_chances": _set_chances,
    "set_costs": _set_costs,
    "set_deadline": _set_deadline,
    "set_history": _set_history,
    "set_now": _set_now,
    "set_policy": _set_policy,
    "set_prior": _set_prior,
    "set_runs": _set_runs,
    "set_terms": _set_terms,
    "started": _started,
}


def _learned(seen: Seen, job: str, arms: Sequence[Arm], since: float) -> Learned:
    """Return what all runs teach of the arms of a job.

    Jobs that were created ``since``, in seconds of the epoch, are searched beside it: see
    ``learned_beside``. The newest runs come first, since sums depend on the order; the history that
    the job was given comes before all.
    """
    before: list[PastRun] = [*seen.histories.get(job, ())]
    beside: list[PastRun] = []
    own: list[PastRun] = []
    for id in sorted(seen.runs, reverse=True):
        run = seen.runs[id]
        if run.job == job:
            own.append(run.lesson)
        elif run.created >= since:
            beside.append(run.lesson)
        else:
            before.append(run.lesson)
    return learned_beside(arms, before, beside, own)


def _with_learned(seen: Seen, job: str, learned: Learned) -> Seen:
    return replace(seen, learned=MappingProxyType({**seen.learned, job: learned}))


def _moment(told: float | None) -> float:
    return math.inf if told is None else told
