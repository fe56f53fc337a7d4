"""A discrete-event simulation of tenants that share devices, on a clock of its own."""

import heapq
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.search.arms import Arm
from easeml.search.convergence import settled
from easeml.search.jobs import Budget, Terms
from easeml.search.policies import Policy
from easeml.search.prior import PastRun, worth_learning
from easeml.search.simulator.workload import Workload
from easeml.search.state import (
    Observation,
    SearchState,
    add_job,
    remove_job,
    set_now,
    set_prior,
    set_terms,
    started,
)
from easeml.search.surrogates import Prior

Learn = Callable[[Sequence[Arm], Sequence[PastRun]], Prior]
"""From a job's arms and the runs of other jobs so far to its prior."""

_END, _ARRIVE, _LEAVE = (
    0,
    1,
    2,
)  # at one moment runs end before tenants come, and come before they go


@dataclass(frozen=True)
class Scenario:
    """What happens besides the search. Times in seconds from the start; keys are indices of
    tenants.

    ``speeds``: of each device (cost / speed is the time of a run); ``arrivals`` (0 if not said) and
    ``departures``; ``failing``: chance that a run fails, at a random part of its time;
    ``tolerance``: expected improvement under which a job rests (None: none does); ``terms`` and
    ``budgets``; ``until``: the end of time; ``until_best``: start nothing more once every tenant
    has the best that it can reach, after which no loss changes.
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
        if not self.speeds or not all(0 < speed < math.inf for speed in self.speeds):
            raise InvalidInput("Devices need speeds above 0.", where="scenario.speeds")
        if not 0 <= self.failing < 1:
            raise InvalidInput(
                f"The chance of failing {self.failing} is not in [0, 1).", where="scenario.failing"
            )


@dataclass(frozen=True, slots=True)
class Run:
    """One run: indices of tenant, model and device, its time, and its quality (NaN: it failed or
    was cut off).
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
    1.
    """

    tenant: str
    arms: tuple[Arm, ...]
    prior: Prior
    quality: np.ndarray
    seconds: np.ndarray


@dataclass(frozen=True)
class Trace:
    """All runs in the order of their starts; ``idle``: device seconds that devices were free while
    work waited.
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
) -> Trace:
    """Search all tenants' models under a policy until nothing is left to start; the same seed gives
    the same trace.

    ``prior``: over the models, for all tenants or one for each. ``seed``: of failures. ``explain``:
    keep the explanation of every decision. ``learn``: how a job's prior follows from what was run
    of other jobs meanwhile; with None it stays.
    """
    return simulate_jobs(
        entries_of(workload, prior), policy, scenario, seed=seed, explain=explain, learn=learn
    )


def entries_of(workload: Workload, prior: Prior | Sequence[Prior]) -> list[Entry]:
    """Return the tenants of a workload, each with all its models as arms."""
    priors = [prior] * len(workload.tenants) if isinstance(prior, Prior) else prior
    rows = zip(workload.tenants, priors, workload.quality, workload.cost, strict=True)
    return [
        Entry(name, _arms(workload, seconds), prior, quality, seconds)
        for name, prior, quality, seconds in rows
    ]


def _arms(workload: Workload, seconds: np.ndarray) -> tuple[Arm, ...]:
    return tuple(
        Arm(model, model, cost)
        for model, cost in zip(workload.models, seconds.tolist(), strict=True)
    )


def simulate_jobs(
    entries: Sequence[Entry],
    policy: Policy,
    scenario: Scenario | None = None,
    *,
    seed: int = 0,
    explain: bool = False,
    learn: Learn | None = None,
) -> Trace:
    """Search as ``simulate`` does, where every job has arms of its own and may cost other than its
    tenant believes.

    Indices of tenants, in the scenario and in the runs, are indices of entries; those of models are
    of their arms.
    """
    generator = np.random.default_rng(seed)
    simulation = _Simulation(
        entries, policy, scenario or Scenario(), generator=generator, explain=explain, learn=learn
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
    ):
        self._entries, self._policy, self._scenario = entries, policy, scenario
        self._generator, self._explain, self._learn = generator, explain, learn
        self._past: list[PastRun] = []
        self._known: dict[
            str, int
        ] = {}  # job -> number of runs of others that its prior was learned from
        self._state = SearchState()
        self._now, self._idle, self._pushed = 0.0, 0.0, 0
        self._free = sorted(
            range(len(scenario.speeds)), key=lambda device: -scenario.speeds[device]
        )
        self._runs: list[Run] = []
        self._seeking = {
            tenant: float(np.nanmax(entry.quality)) for tenant, entry in enumerate(entries)
        }
        self._events: list[tuple[float, int, int, Any]] = []
        for tenant in range(len(entries)):
            self._push(scenario.arrivals.get(tenant, 0.0), _ARRIVE, tenant)
        for tenant, moment in scenario.departures.items():
            self._push(moment, _LEAVE, tenant)

    def run(self) -> Trace:
        while self._events and self._events[0][0] <= self._scenario.until:
            before, self._now = self._now, self._events[0][0]
            if self._free and self._state.waiting:
                self._idle += len(self._free) * (self._now - before)
            while self._events and self._events[0][0] == self._now:
                _, kind, _, what = heapq.heappop(self._events)
                (self._end, self._arrive, self._leave)[kind](what)
            self._state = set_now(self._state, self._now)
            self._decide()
        return Trace(tuple(sorted(self._runs, key=lambda run: run.start)), self._idle)

    def _push(self, moment: float, kind: int, what: Any) -> None:
        self._pushed += 1  # what was planned first happens first
        heapq.heappush(self._events, (moment, kind, self._pushed, what))

    def _arrive(self, tenant: int) -> None:
        entry, budget = self._entries[tenant], self._scenario.budgets.get(tenant)
        self._state = add_job(
            self._state, str(tenant), entry.tenant, entry.arms, entry.prior, budget=budget
        )
        if tenant in self._scenario.terms:
            self._state = set_terms(self._state, entry.tenant, self._scenario.terms[tenant])

    def _leave(self, tenant: int) -> None:
        if str(tenant) in self._state.jobs:
            self._state = remove_job(self._state, str(tenant))

    def _end(self, run: Run) -> None:
        self._runs.append(run)
        self._free.append(run.device)
        self._free.sort(key=lambda device: -self._scenario.speeds[device])
        job = str(run.tenant)
        if job not in self._state.jobs:  # the tenant has left
            return
        quality = None if math.isnan(run.quality) else run.quality
        if quality is not None and quality >= self._seeking.get(run.tenant, math.inf):
            del self._seeking[run.tenant]
        self._state = self._policy.observe(
            self._state, Observation(job, run.model, quality, run.end - run.start)
        )
        if self._learn and quality is not None:
            arm = self._entries[run.tenant].arms[run.model]
            self._past.append((job, arm.model, arm.features, quality))
            self._learn_again(job, self._learn)
        if self._scenario.tolerance is not None:
            self._state = settled(self._state, job, self._scenario.tolerance)

    def _learn_again(self, job: str, learn: Learn) -> None:
        found = self._state.job(job)
        others = len(self._past) - len(found.finished)
        if worth_learning(self._known.get(job, 0), others):
            self._known[job] = others
            runs = [run for run in self._past if run[0] != job]
            self._state = set_prior(self._state, job, learn(found.arms, runs))

    def _decide(self) -> None:
        if not self._free or (self._scenario.until_best and not self._seeking):
            return
        for decision in self._policy.decide(self._state, len(self._free)):
            self._state = started(self._state, decision.job, decision.arm)
            tenant, device = int(decision.job), self._free.pop(0)
            seconds = self._entries[tenant].seconds[decision.arm] / self._scenario.speeds[device]
            quality = float(self._entries[tenant].quality[decision.arm])
            if self._scenario.failing and self._generator.random() < self._scenario.failing:
                quality, seconds = math.nan, seconds * self._generator.random()
            why = decision.explanation if self._explain else None
            end = self._now + float(seconds)
            self._push(end, _END, Run(tenant, decision.arm, device, self._now, end, quality, why))
