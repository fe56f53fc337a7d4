"""What another policy would have done, on past searches or invented ones."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field

from easeml.contract.parameters import PolicyName
from easeml.contract.scheduling import LossCurve, Replay
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
from easeml.store import Store, Transaction
from easeml.store.records import Candidate, Job, Task

HISTORY = "what happened"

_MOST_SEARCHES = 40  # the newest
_LEAST_SECONDS = 0.01
_MOST_TENANTS = _MOST_DEVICES = 20
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
    entries, before_all = [search.entry for search in searches], searches[0].before

    def learn(arms: Sequence[Arm], runs: Sequence[PastRun]) -> Prior:
        return learned_beside(arms, before_all, runs).over(arms)

    trace = simulate_jobs(
        entries, chosen, Scenario((1.0,) * devices, arrivals), explain=True, learn=learn
    )
    done = sorted(
        (task for search in searches for task in search.tasks),
        key=lambda task: task.finished or 0.0,
    )
    before = [(task.job_id, task.quality, max(task.cost, _LEAST_SECONDS)) for task in done]
    return _shown(chosen, entries, trace, view, devices, [_curve(before, HISTORY)])


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
    if not (1 <= tenants <= _MOST_TENANTS and 1 <= devices <= _MOST_DEVICES and 0 <= seed < 2**31):
        raise InvalidInput(
            "This is out of range.", where="simulation", remedy="Use 1 to 20 tenants and devices."
        )
    return _simulated(policy, against, tenants, devices, seed)


@lru_cache(_KEPT_SIMULATIONS)
def _simulated(policy: str, against: str, tenants: int, devices: int, seed: int) -> Replay:
    """Return a simulation: the same for everybody, so it is computed once."""
    chosen, other = policy_named(policy), policy_named(against)
    generator = np.random.default_rng(seed)
    whole = synthetic(
        _LIKENESS, _FLUCTUATION, generator, tenants=_PAST_TENANTS + tenants, models=_MODELS
    )
    past, work = draw(whole, Setting(tenants=tenants, devices=devices, seeds=1), seed)
    work = replace(work, tenants=tuple(f"tenant {number}" for number in range(1, tenants + 1)))
    entries, scenario = (
        entries_of(work, belief(past, work.models, own=True)),
        Scenario((1.0,) * devices),
    )
    trace = simulate_jobs(entries, chosen, scenario, explain=True)
    compared = _curve(_runs(simulate_jobs(entries, other, scenario)), other.name)
    view = TenantView(Caller("", "", role=Role.PROVIDER), {name: name for name in work.tenants})
    return _shown(chosen, entries, trace, view, devices, [compared])


def _searches(tx: Transaction) -> list[_Search]:
    """Return the newest open searches that have results, in the order they came."""
    tables, trials = tx.unscoped(), finished_trials(tx)
    jobs = tables.jobs.list(state=SEARCHED_JOBS, newest_first=True, limit=_MOST_SEARCHES)[::-1]
    ids = [job.id for job in jobs]
    tasks: defaultdict[str, list[Task]] = defaultdict(list)
    for task in (
        tables.tasks.list(job_id=ids, kind=TaskGroup.TRAIN, state=FINISHED_TASKS, limit=None)
        if ids
        else []
    ):
        tasks[task.job_id].append(task)
    candidates = (
        {c.id: c for c in tables.candidates.list(job_id=list(tasks), limit=None)} if tasks else {}
    )
    registry = knowledge_base.current(tx)
    return [
        _search(registry, job, tasks[job.id], candidates, trials)
        for job in jobs
        if any(task.quality is not None for task in tasks[job.id])
    ]


def _search(
    registry: Registry,
    job: Job,
    tasks: list[Task],
    candidates: dict[str, Candidate],
    trials: list[Trial],
) -> _Search:
    tasks = sorted(tasks, key=lambda task: candidates[task.candidate_id].arm)
    arms = tuple(arm_of(registry, candidates[task.candidate_id]) for task in tasks)
    before = runs_of(
        registry, (t for t in trials if t.job_id != job.id and t.finished < job.created)
    )
    prior = learned_prior(arms, before)
    quality = np.array([math.nan if task.quality is None else task.quality for task in tasks])
    seconds = np.array([max(task.cost, _LEAST_SECONDS) for task in tasks])
    return _Search(Entry(job.tenant_id, arms, prior, quality, seconds), job, tasks, before)


def _shown(
    policy: Policy,
    entries: Sequence[Entry],
    trace: Trace,
    view: TenantView,
    devices: int,
    others: list[LossCurve],
) -> Replay:
    steps = []
    explanations = [(run.explanation or {}, run) for run in trace.runs]
    for number, (explanation, run) in enumerate(
        sorted(explanations, key=lambda pair: pair[0]["step"]), 1
    ):
        tenant = entries[run.tenant].tenant
        changes = {
            "number": number,
            "moment": run.start,
            "policy": policy.name,
            "quality": None if math.isnan(run.quality) else run.quality,
            "seconds": run.end - run.start,
            "state": TaskState.FAILED if math.isnan(run.quality) else TaskState.DONE,
        }
        steps.append(explained(explanation, tenant, view).model_copy(update=changes))
    return Replay(
        policy=policy.name,
        policies=list(installed_policies().by_name),
        devices=devices,
        tenants=len({entry.tenant for entry in entries}),
        searches=len(entries),
        tasks=len(trace.runs),
        curves=[_curve(_runs(trace), policy.name), *others],
        steps=steps,
    )


def _runs(trace: Trace) -> list[tuple[str, float | None, float]]:
    """Return job, quality and cost of each run, in the order in which they ended."""
    ordered = sorted(trace.runs, key=lambda run: run.end)
    return [
        (str(r.tenant), None if math.isnan(r.quality) else r.quality, r.end - r.start)
        for r in ordered
    ]


def _curve(runs: Iterable[tuple[str, float | None, float]], name: str) -> LossCurve:
    """Return the losses against the device seconds that were spent."""
    spent, results = 0.0, []
    for job, quality, seconds in runs:
        spent += seconds
        results.append(Result(spent, job, quality))
    return loss_curve(results, 0.0, spent, name)
