"""What another policy would have done, on past searches or invented ones."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field

from easeml.contract.parameters import PolicyName
from easeml.contract.scheduling import LossCurve, Replay, Step
from easeml.contract.states import (
    FINISHED_TASKS,
    SEARCHED_JOBS,
    ProcessKind,
    ProcessState,
    Role,
    TaskGroup,
    TaskState,
)
from easeml.errors import InvalidInput, NotReady
from easeml.modules import Registry
from easeml.search import (
    Arm,
    PastRun,
    Policy,
    Prior,
    installed_policies,
    learned_beside,
    learned_prior,
    policy_named,
)
from easeml.search.simulator import (
    Entry,
    Run,
    Scenario,
    Setting,
    Trace,
    belief,
    draw,
    entries_of,
    simulate_jobs,
    synthetic,
)
from easeml.service.access.caller import Caller
from easeml.service.access.tenant_view import TenantView
from easeml.service.knowledge import knowledge_base
from easeml.service.knowledge.trials import Trial, finished_trials
from easeml.service.scheduling.decisions import explained
from easeml.service.scheduling.losses import Result, loss_curve
from easeml.service.search.beliefs import arm_of, runs_of
from easeml.store import Store, Tables, Transaction, grouped
from easeml.store.records import Candidate, Job, Task

HISTORY = "what happened"

_MOST_SEARCHES = 40  # the newest
_LEAST_SECONDS = 0.01
_MANY = range(1, 21)  # tenants and devices of invented work
_KEPT_SIMULATIONS = 64
_PAST_TENANTS, _MODELS = 40, 24  # of invented work
_LIKENESS, _FLUCTUATION = 0.5, 1.0  # SYN(0.5, 1.0) of Li et al., Ease.ml (PVLDB 2018), section 5.1


class _Search(NamedTuple):
    """A search that was done.

    It has its entry, the tasks of the entry's arms, and what was known of models before it.
    """

    entry: Entry
    job: Job
    tasks: list[Task]
    before: list[PastRun]


class _Run(NamedTuple):
    """A run that ended, of a search; ``quality`` None: it failed."""

    job: str
    quality: float | None
    seconds: float


def replay(store: Store, caller: Caller, policy: PolicyName = "default") -> Replay:
    """Run past tasks again in the order that another policy chooses.

    They have the costs and qualities that were measured.

    The newest 40 searches that are not over take part, on as many devices as there are now. Raises
    ``InvalidInput`` for an unknown policy, ``NotReady`` before any task has ended.
    """
    chosen = policy_named(policy)
    with store.read() as tx:
        view = TenantView.of(tx, caller)
        searches = _searches(tx)
        devices = max(1, tx.processes.count(kind=ProcessKind.WORKER, state=ProcessState.RUNNING))
    if not searches:
        raise NotReady(
            "No search has a result yet.", remedy="Come back when the first tasks are done."
        )
    first = min(search.job.created for search in searches)
    arrivals = {place: search.job.created - first for place, search in enumerate(searches)}
    scenario = Scenario((1.0,) * devices, arrivals)
    entries = [search.entry for search in searches]
    before_all = searches[0].before

    def learn(arms: Sequence[Arm], runs: Sequence[PastRun]) -> Prior:
        return learned_beside(arms, before_all, runs).over(arms)

    trace = simulate_jobs(entries, chosen, scenario, explain=True, learn=learn)
    history = _curve(_past_runs(searches), HISTORY)
    return _shown(chosen, entries, trace, view, devices, [history])


def _past_runs(searches: Iterable[_Search]) -> list[_Run]:
    """Return the runs of past searches in the order in which they ended."""
    own = chain.from_iterable(search.tasks for search in searches)
    tasks = sorted(own, key=lambda task: task.finished or 0.0)
    return [_Run(task.job_id, task.quality, max(task.cost, _LEAST_SECONDS)) for task in tasks]


def simulation(
    store: Store,
    caller: Caller,
    policy: PolicyName = "default",
    *,
    against: PolicyName = "random",
    tenants: Annotated[int, Field(ge=1, le=20, description="how many search")] = 10,
    devices: Annotated[
        int, Field(ge=1, le=20, description="how many equal devices they share")
    ] = 1,
    seed: Annotated[int, Field(ge=0, lt=2**31, description="of what is drawn")] = 0,
) -> Replay:
    """Search invented work of many tenants.

    Each of ``tenants`` has 24 models, and the qualities of 40 tenants of the past are known.

    ``against``: a policy to compare with. Raises ``InvalidInput`` for an unknown policy or a number
    out of range.
    """
    for name in (policy, against):
        policy_named(name)
    is_in_range = tenants in _MANY and devices in _MANY and seed in range(2**31)
    if not is_in_range:
        raise InvalidInput(
            "This is out of range.", where="simulation", remedy="Use 1 to 20 tenants and devices."
        )
    return _simulated(policy, against, tenants, devices, seed)


@lru_cache(_KEPT_SIMULATIONS)
def _simulated(policy: str, against: str, tenants: int, devices: int, seed: int) -> Replay:
    """Return a simulation: the same for everybody, so it is computed once."""
    chosen = policy_named(policy)
    other = policy_named(against)
    generator = np.random.default_rng(seed)
    whole = synthetic(
        _LIKENESS, _FLUCTUATION, generator, tenants=_PAST_TENANTS + tenants, models=_MODELS
    )
    past, work = draw(whole, Setting(tenants=tenants, devices=devices, seeds=1), seed)
    names = tuple(f"tenant {number}" for number in range(1, tenants + 1))
    work = replace(work, tenants=names)

    entries = entries_of(work, belief(past, work.models, own=True))
    scenario = Scenario((1.0,) * devices)
    trace = simulate_jobs(entries, chosen, scenario, explain=True)
    compared = _curve(_runs(simulate_jobs(entries, other, scenario)), other.name)
    view = TenantView(Caller("", "", role=Role.PROVIDER), {name: name for name in names})
    return _shown(chosen, entries, trace, view, devices, [compared])


def _searches(tx: Transaction) -> list[_Search]:
    """Return the newest open searches that have results, in the order they came."""
    tables = tx.unscoped()
    jobs = tables.jobs.list(state=SEARCHED_JOBS, newest_first=True, limit=_MOST_SEARCHES)[::-1]
    tasks = _tasks_by_job(tables, jobs)
    trials = finished_trials(tx)
    candidates = tables.candidates.by_id(job_id=list(tasks))
    registry = knowledge_base.current(tx)
    searches = []
    for job in jobs:
        own = tasks[job.id]
        has_result = any(task.quality is not None for task in own)
        if has_result:
            searches.append(_search(registry, job, own, candidates, trials))
    return searches


def _tasks_by_job(tables: Tables, jobs: Sequence[Job]) -> defaultdict[str, list[Task]]:
    """Return the training tasks of jobs that have ended, by job that has any."""
    ids = [job.id for job in jobs]
    tasks = tables.tasks.list(job_id=ids, kind=TaskGroup.TRAIN, state=FINISHED_TASKS, limit=None)
    return grouped(tasks, lambda task: task.job_id)


def _search(
    registry: Registry,
    job: Job,
    tasks: list[Task],
    candidates: dict[str, Candidate],
    trials: list[Trial],
) -> _Search:
    tasks = sorted(tasks, key=lambda task: candidates[task.candidate_id].arm)
    arms = tuple(arm_of(registry, candidates[task.candidate_id]) for task in tasks)
    earlier = [one for one in trials if one.finished < job.created and one.job_id != job.id]
    before = runs_of(registry, earlier)
    prior = learned_prior(arms, before)
    quality = np.array([task.quality for task in tasks], dtype=float)  # None becomes NaN
    seconds = np.array([max(task.cost, _LEAST_SECONDS) for task in tasks])
    entry = Entry(job.tenant_id, arms, prior, quality, seconds)
    return _Search(entry, job, tasks, before)


def _shown(
    policy: Policy,
    entries: Sequence[Entry],
    trace: Trace,
    view: TenantView,
    devices: int,
    others: list[LossCurve],
) -> Replay:
    return Replay(
        policy=policy.name,
        policies=list(installed_policies().by_name),
        devices=devices,
        tenants=len({entry.tenant for entry in entries}),
        searches=len(entries),
        tasks=len(trace.runs),
        curves=[_curve(_runs(trace), policy.name), *others],
        steps=_steps(policy, entries, trace, view),
    )


def _steps(policy: Policy, entries: Sequence[Entry], trace: Trace, view: TenantView) -> list[Step]:
    """Return the decisions in the order in which they were made, each with what came of it."""
    explained_runs = [(run.explanation or {}, run) for run in trace.runs]
    explained_runs.sort(key=lambda pair: pair[0]["step"])
    steps = []
    for number, (explanation, run) in enumerate(explained_runs, 1):
        tenant = entries[run.tenant].tenant
        quality = _quality(run)
        came_of_it = {
            "number": number,
            "moment": run.start,
            "policy": policy.name,
            "quality": quality,
            "seconds": run.end - run.start,
            "state": TaskState.FAILED if quality is None else TaskState.DONE,
        }
        steps.append(explained(explanation, tenant, view).model_copy(update=came_of_it))
    return steps


def _runs(trace: Trace) -> list[_Run]:
    """Return the runs of a trace in the order in which they ended."""
    ended = sorted(trace.runs, key=lambda run: run.end)
    return [_Run(str(run.tenant), _quality(run), run.end - run.start) for run in ended]


def _quality(run: Run) -> float | None:
    """Return what a simulated run reached; None where it failed."""
    return None if math.isnan(run.quality) else run.quality


def _curve(runs: Iterable[_Run], name: str) -> LossCurve:
    """Return the losses against the device seconds that were spent."""
    spent = 0.0
    results = []
    for run in runs:
        spent += run.seconds
        results.append(Result(spent, run.job, run.quality))
    return loss_curve(results, 0.0, spent, name)
