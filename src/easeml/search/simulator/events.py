"""A discrete-event simulation of tenants that share devices, on a clock of its own."""

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.search.arms import Arm
from easeml.search.convergence import settled
from easeml.search.jobs import Budget, Terms
from easeml.search.policies import Policy
from easeml.search.simulator.workload import Workload
from easeml.search.state import Observation, SearchState, add_job, remove_job, set_now, set_terms, started
from easeml.search.surrogates import Prior

_END, _ARRIVE, _LEAVE = 0, 1, 2  # at one moment runs end before tenants come, and come before they go


@dataclass(frozen=True)
class Scenario:
    """What happens besides the search. Times in seconds from the start; keys are indices of tenants.

    ``speeds``: of each device (cost / speed is the time of a run); ``arrivals`` (0 if not said) and ``departures``;
    ``failing``: chance that a run fails, at a random part of its time; ``tolerance``: expected improvement under
    which a job rests (None: none does); ``terms`` and ``budgets``; ``until``: the end of time.
    """

    speeds: Sequence[float] = (1.0,)
    arrivals: Mapping[int, float] = field(default_factory=dict)
    departures: Mapping[int, float] = field(default_factory=dict)
    failing: float = 0.0
    tolerance: float | None = None
    terms: Mapping[int, Terms] = field(default_factory=dict)
    budgets: Mapping[int, Budget] = field(default_factory=dict)
    until: float = math.inf

    def __post_init__(self) -> None:
        if not self.speeds or not all(0 < speed < math.inf for speed in self.speeds):
            raise InvalidInput("Devices need speeds above 0.", where="scenario.speeds")
        if not 0 <= self.failing < 1:
            raise InvalidInput(f"The chance of failing {self.failing} is not in [0, 1).", where="scenario.failing")


@dataclass(frozen=True, slots=True)
class Run:
    """One run: indices of tenant, model and device, its time, and its quality (NaN: it failed or was cut off)."""

    tenant: int
    model: int
    device: int
    start: float
    end: float
    quality: float
    explanation: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Trace:
    """All runs in the order of their starts; ``idle``: device seconds that devices were free while work waited."""

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
) -> Trace:
    """Search all tenants' models under a policy until nothing is left to start; the same seed gives the same trace.

    ``prior``: over the models, for all tenants or one for each. ``seed``: of failures. ``explain``: keep the
    explanation of every decision.
    """
    generator = np.random.default_rng(seed)
    return _Simulation(workload, policy, prior, scenario or Scenario(), generator=generator, explain=explain).run()


class _Simulation:
    def __init__(
        self,
        workload: Workload,
        policy: Policy,
        prior: Prior | Sequence[Prior],
        scenario: Scenario,
        *,
        generator: np.random.Generator,
        explain: bool,
    ):
        self._workload, self._policy, self._scenario = workload, policy, scenario
        count = len(workload.tenants)
        self._priors = [prior] * count if isinstance(prior, Prior) else list(prior)
        self._generator, self._explain = generator, explain
        self._state = SearchState()
        self._now, self._idle, self._pushed = 0.0, 0.0, 0
        self._free = sorted(range(len(scenario.speeds)), key=lambda device: -scenario.speeds[device])
        self._runs: list[Run] = []
        self._events: list[tuple[float, int, int, Any]] = []
        for tenant in range(count):
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
        work, name = self._workload, self._workload.tenants[tenant]
        arms = [Arm(m, m, c) for m, c in zip(work.models, work.cost[tenant].tolist(), strict=True)]
        self._state = add_job(
            self._state, str(tenant), name, arms, self._priors[tenant], budget=self._scenario.budgets.get(tenant)
        )
        if tenant in self._scenario.terms:
            self._state = set_terms(self._state, name, self._scenario.terms[tenant])

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
        self._state = self._policy.observe(self._state, Observation(job, run.model, quality, run.end - run.start))
        if self._scenario.tolerance is not None:
            self._state = settled(self._state, job, self._scenario.tolerance)

    def _decide(self) -> None:
        if not self._free:
            return
        for decision in self._policy.decide(self._state, len(self._free)):
            self._state = started(self._state, decision.job, decision.arm)
            tenant, device = int(decision.job), self._free.pop(0)
            seconds = self._workload.cost[tenant, decision.arm] / self._scenario.speeds[device]
            quality = float(self._workload.quality[tenant, decision.arm])
            if self._scenario.failing and self._generator.random() < self._scenario.failing:
                quality, seconds = math.nan, seconds * self._generator.random()
            why = decision.explanation if self._explain else None
            end = self._now + float(seconds)
            self._push(end, _END, Run(tenant, decision.arm, device, self._now, end, quality, why))
