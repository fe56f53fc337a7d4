"""A discrete-event simulation of tenants that share devices, on a clock of its own."""

import heapq
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from easeml.search.arms import Arm
from easeml.search.checks import require
from easeml.search.convergence import settled
from easeml.search.costs import CostBelief, Work
from easeml.search.costs.news import changed_costs
from easeml.search.jobs import Budget, Terms
from easeml.search.policies import Decision, Policy
from easeml.search.prior import PastRun, worth_learning
from easeml.search.simulator.workload import Workload
from easeml.search.state import (
    Observation,
    SearchState,
    add_job,
    remove_job,
    set_costs,
    set_now,
    set_prior,
    set_terms,
    started,
)
from easeml.search.surrogates import Prior

Learn = Callable[[Sequence[Arm], Sequence[PastRun]], Prior]
"""From a job's arms and the runs of other jobs so far to its prior."""

# At one moment runs end before tenants come, and tenants come before others go.
_END, _ARRIVE, _LEAVE = 0, 1, 2


@dataclass(frozen=True)
class Scenario:
    """What happens besides the search.

    Times are in seconds from the start, keys are indices of tenants. ``speeds``: of each device
    (cost / speed is the time of a run); ``arrivals`` (0 if not said) and ``departures``;
    ``failing``: chance that a run fails, at a random part of its time; ``tolerance``: expected
    improvement under which a job rests (None: none does); ``terms`` and ``budgets``; ``until``: the
    end of time; ``until_best``: start nothing more once every tenant has the best that it can
    reach, after which no loss changes.
    """

    speeds: Sequence[float] = (1.0,)
    arrivals: Mapping[int, float] = field(default_factory=dict)
    departures: Mapping[int, float] = field(default_factory=dict)
    failing: float = 0.0
    tolerance: float | None = None
    terms: Mapping[int, Terms] = field(default_factory=dict)
    budgets: Mapping[int, Budget] = field(default_factory=dict)
    until: float = math.inf
    until_best: bool = False

    def __post_init__(self) -> None:
        require(
            self.speeds and all(0 < speed < math.inf for speed in self.speeds),
            "Devices need speeds above 0.",
            where="scenario.speeds",
        )
        require(
            0 <= self.failing < 1,
            f"The chance of failing {self.failing} is not in [0, 1).",
            where="scenario.failing",
        )


@dataclass(frozen=True, slots=True)
class Run:
    """One run: indices of tenant, model and device, its time and its quality.

    The quality is NaN where the run failed or was cut off.
    """

    tenant: int
    model: int
    device: int
    start: float
    end: float
    quality: float
    explanation: Mapping[str, Any] | None = None


@dataclass(frozen=True, eq=False)
class Entry:
    """A job of a simulation: what its tenant believes, and what each of its K arms really brings.

    ``quality`` (K,): NaN where a run fails; ``seconds`` (K,): what a run takes on a device of speed
    1. ``overhead``: what a run is believed to cost beside that, see ``SearchJob``.
    """

    tenant: str
    arms: tuple[Arm, ...]
    prior: Prior
    quality: np.ndarray
    seconds: np.ndarray
    overhead: float = 0.0


@dataclass(frozen=True)
class Trace:
    """All runs in the order of their starts.

    ``idle``: device seconds that devices were free while work waited.
    """

    runs: tuple[Run, ...]
    idle: float


def simulate(
    workload: Workload,
    policy: Policy,
    prior: Prior | Sequence[Prior],
    scenario: Scenario | None = None,
    *,
    seed: int = 0,
    explain: bool = False,
    learn: Learn | None = None,
    costs: CostBelief | None = None,
) -> Trace:
    """Search all tenants' models under a policy until nothing is left to start.

    The same seed gives the same trace. ``prior``: over the models, for all tenants or one for each.
    ``seed``: of failures. ``explain``: keep the explanation of every decision. ``learn``: how a
    job's prior follows from what was run of other jobs meanwhile; with None it stays. ``costs``:
    what is believed of them before, and learned at every run; with None policies know them.
    """
    return simulate_jobs(
        entries_of(workload, prior),
        policy,
        scenario,
        seed=seed,
        explain=explain,
        learn=learn,
        costs=costs,
    )


def entries_of(workload: Workload, prior: Prior | Sequence[Prior]) -> list[Entry]:
    """Return the tenants of a workload, each with all its models as arms."""
    priors = [prior] * len(workload.tenants) if isinstance(prior, Prior) else prior
    rows = zip(workload.tenants, priors, workload.quality, workload.cost, strict=True)
    entries = []
    for name, own_prior, quality, seconds in rows:
        arms = _arms(workload, seconds)
        entries.append(Entry(name, arms, own_prior, quality, seconds))
    return entries


def _arms(workload: Workload, seconds: np.ndarray) -> tuple[Arm, ...]:
    pairs = zip(workload.models, seconds.tolist(), strict=True)
    return tuple(Arm(model, model, cost) for model, cost in pairs)


def works_of(entries: Sequence[Entry]) -> dict[str, list[Work]]:
    """Return what the costs of the arms of each entry depend on, by the name of its job."""
    found = {}
    for place, entry in enumerate(entries):
        job = str(place)
        found[job] = [Work(arm.model, features=arm.features, job=job) for arm in entry.arms]
    return found


def simulate_jobs(
    entries: Sequence[Entry],
    policy: Policy,
    scenario: Scenario | None = None,
    *,
    seed: int = 0,
    explain: bool = False,
    learn: Learn | None = None,
    costs: CostBelief | None = None,
) -> Trace:
    """Search as ``simulate`` does, where every job has arms of its own.

    A run may cost other than its tenant believes. Indices of tenants, in the scenario and in the
    runs, are indices of entries; those of models are of their arms.
    """
    generator = np.random.default_rng(seed)
    simulation = _Simulation(
        entries,
        policy,
        scenario or Scenario(),
        generator=generator,
        explain=explain,
        learn=learn,
        costs=costs,
    )
    return simulation.run()


class _Simulation:
    def __init__(
        self,
        entries: Sequence[Entry],
        policy: Policy,
        scenario: Scenario,
        *,
        generator: np.random.Generator,
        explain: bool,
        learn: Learn | None,
        costs: CostBelief | None,
    ):
        self._entries = entries
        self._policy = policy
        self._scenario = scenario
        self._generator = generator
        self._explain = explain
        self._learn = learn
        self._costs = costs
        self._works = works_of(entries) if costs else {}
        self._costs_changed = False

        self._past: list[PastRun] = []
        # Job -> number of runs of others that its prior was learned from.
        self._known: dict[str, int] = {}
        self._state = SearchState()
        self._now = 0.0
        self._idle = 0.0
        self._runs: list[Run] = []

        # Tenants that have not reached their best yet, with its quality.
        self._seeking: dict[int, float] = {}
        for tenant, entry in enumerate(entries):
            self._seeking[tenant] = float(np.nanmax(entry.quality))

        self._free = list(range(len(scenario.speeds)))
        self._sort_free_devices()
        self._pushed = 0
        self._events: list[tuple[float, int, int, Any]] = []
        for tenant in range(len(entries)):
            self._push(scenario.arrivals.get(tenant, 0.0), _ARRIVE, tenant)
        for tenant, moment in scenario.departures.items():
            self._push(moment, _LEAVE, tenant)

    def _sort_free_devices(self) -> None:
        """The fastest device is used first."""
        self._free.sort(key=lambda device: -self._scenario.speeds[device])

    def run(self) -> Trace:
        """Play all events."""
        events = self._events
        happens = {_END: self._end, _ARRIVE: self._arrive, _LEAVE: self._leave}
        while events and events[0][0] <= self._scenario.until:
            before = self._now
            self._now = events[0][0]
            if self._free and self._state.waiting:
                self._idle += len(self._free) * (self._now - before)

            # All that happens at this moment comes before anything is decided.
            while events and events[0][0] == self._now:
                _, kind, _, what = heapq.heappop(events)
                happens[kind](what)

            self._state = set_now(self._state, self._now)
            self._decide()

        runs = sorted(self._runs, key=lambda run: run.start)
        return Trace(tuple(runs), self._idle)

    def _push(self, moment: float, kind: int, what: Any) -> None:
        self._pushed += 1  # what was planned first happens first
        heapq.heappush(self._events, (moment, kind, self._pushed, what))

    def _arrive(self, tenant: int) -> None:
        entry = self._entries[tenant]
        self._state = add_job(
            self._state,
            str(tenant),
            entry.tenant,
            entry.arms,
            entry.prior,
            budget=self._scenario.budgets.get(tenant),
            overhead=entry.overhead,
        )
        self._costs_changed = True
        terms = self._scenario.terms.get(tenant)
        if terms is not None:
            self._state = set_terms(self._state, entry.tenant, terms)

    def _leave(self, tenant: int) -> None:
        job = str(tenant)
        if job in self._state.jobs:
            self._state = remove_job(self._state, job)

    def _end(self, run: Run) -> None:
        self._runs.append(run)
        self._free.append(run.device)
        self._sort_free_devices()
        self._learn_cost(run)

        job = str(run.tenant)
        if job not in self._state.jobs:
            return  # the tenant has left

        quality = None if math.isnan(run.quality) else run.quality
        observation = Observation(job, run.model, quality, run.end - run.start)
        self._state = self._policy.observe(self._state, observation)
        if quality is not None:
            self._note_quality(run, quality)
        if self._scenario.tolerance is not None:
            self._state = settled(self._state, job, self._scenario.tolerance)

    def _learn_cost(self, run: Run) -> None:
        """Learn what a run took; one that failed may have ended at any time, and tells nothing."""
        if self._costs is None or math.isnan(run.quality):
            return
        work = self._works[str(run.tenant)][run.model]
        seconds = (run.end - run.start) * self._scenario.speeds[run.device]
        self._costs = self._costs.after(work, seconds)
        self._costs_changed = True

    def _tell_costs(self) -> None:
        """Tell the search what arms are believed to cost by now, if there was a result."""
        if self._costs is None or not self._costs_changed:
            return
        self._costs_changed = False
        changed = changed_costs(self._costs, self._state.jobs, self._works)
        for job, of_arms in changed.items():
            self._state = set_costs(self._state, job, of_arms)

    def _note_quality(self, run: Run, quality: float) -> None:
        """Learn from a run that did not fail, and note whether its tenant has its best now."""
        best = self._seeking.get(run.tenant, math.inf)
        if quality >= best:
            del self._seeking[run.tenant]

        if self._learn:
            job = str(run.tenant)
            arm = self._entries[run.tenant].arms[run.model]
            self._past.append((job, arm.model, arm.features, quality))
            self._learn_again(job, self._learn)

    def _learn_again(self, job: str, learn: Learn) -> None:
        found = self._state.job(job)
        others = len(self._past) - len(found.finished)
        if worth_learning(self._known.get(job, 0), others):
            self._known[job] = others
            runs = [run for run in self._past if run[0] != job]
            self._state = set_prior(self._state, job, learn(found.arms, runs))

    def _decide(self) -> None:
        if not self._free:
            return
        if self._scenario.until_best and not self._seeking:
            return

        self._tell_costs()
        for decision in self._policy.decide(self._state, len(self._free)):
            self._state = started(self._state, decision.job, decision.arm)
            run = self._planned_run(decision)
            self._push(run.end, _END, run)

    def _planned_run(self, decision: Decision) -> Run:
        """Give a run the fastest free device, and say when it will end with which quality."""
        tenant = int(decision.job)
        entry = self._entries[tenant]
        device = self._free.pop(0)
        seconds = entry.seconds[decision.arm] / self._scenario.speeds[device]
        quality = float(entry.quality[decision.arm])

        failing = self._scenario.failing
        if failing and self._generator.random() < failing:
            quality = math.nan
            seconds *= self._generator.random()

        return Run(
            tenant,
            decision.arm,
            device,
            start=self._now,
            end=self._now + float(seconds),
            quality=quality,
            explanation=decision.explanation if self._explain else None,
        )
