"""The scheduler's picture of all searches: a ``SearchState`` kept in step with the rows of the
store.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import repeat
from typing import Any

from easeml.contract.states import FINISHED_TASKS, SEARCHED_JOBS, JobState, TaskState
from easeml.modules import Registry
from easeml.search import (
    Arm,
    Budget,
    CostBelief,
    Decision,
    Policy,
    SearchState,
    Terms,
    Work,
    feasible,
    knows_enough,
    policy_named,
    worth_learning,
)
from easeml.search.decision_log import Change, Seen, applied, told_arms, told_runs
from easeml.service.knowledge.trials import work_of
from easeml.service.limits import quotas
from easeml.service.search import histories, kept_results, model_limits
from easeml.service.search.beliefs import arm_of, finished_runs
from easeml.store import Tables, Transaction
from easeml.store.records import Candidate, Job, Task
from easeml.store.shapes import JobLimits, Rules

from .machine_costs import MachineCosts
from .searched_rows import (
    arms_by_candidate,
    best_that_may_serve,
    candidates_of,
    changed_tasks,
    done_beside,
    oldest_beside,
    state_seen,
)

_OVERHEAD = 0.25  # seconds that any run costs beside its own: claimed, forked, kept, decided after
_DIGITS = 4  # of a chance: more say nothing, and the log keeps them
_LEARN_AGAIN = 1.5  # times as many candidates as when a job's prior was learned


@dataclass
class _JobMirror:
    """What the state already knows of a job: its limits, arms by candidate id, and its tasks'
    states by task id.

    Its belief was learned when it had ``known`` arms and the jobs beside it had done ``others``
    tasks. ``works``: what the costs of its arms depend on, in their order. ``chances``: of the arms
    to keep the rules of the application, as the search was told them. ``histories``: the tasks that
    read what it learns from beside runs.
    """

    limits: JobLimits
    arms: dict[str, int]
    known: int
    others: int
    works: list[Work]
    tasks: dict[str, TaskState] = field(default_factory=dict)
    chances: list[float] = field(default_factory=list)
    histories: list[str] = field(default_factory=list)


class SearchMirror:
    """Follows the rows: ``sync`` after every change of a job; ``state`` is then what the policy
    decides on.

    What it sees changes by ``note`` alone, which keeps each change for the log of decisions.
    """

    def __init__(self, policy: Policy, registry: Registry):
        self.registry = registry
        self.has_gpu = False  # whether a worker has one
        self._reads_anew = False  # what earlier runs teach, since configurations may mean others
        self._seen = Seen()
        self._jobs: dict[str, _JobMirror] = {}
        self._unwritten: list[Change] = []
        self._costs: MachineCosts | None = None
        self._unwritten_costs: dict[str, float] = {}
        self.raised: set[str] = set()  # tenants whose priority was raised and who wait since
        self.note("set_policy", policy=policy.name)

    @property
    def state(self) -> SearchState:
        """What the policy decides on."""
        return self._seen.state

    @property
    def policy(self) -> Policy:
        """The policy that decides."""
        return policy_named(self._seen.policy)

    def follow_registry(self, registry: Registry) -> None:
        """Know other modules from now on."""
        self.registry = registry
        self._reads_anew = True

    def follow_gpus(self, has_gpu: bool) -> list[str]:
        """Know whether a worker has a GPU; return the jobs that have to be synced if it is news."""
        if self.has_gpu == has_gpu:
            return []
        self.has_gpu = has_gpu
        return list(self._jobs)

    def follow_policy(self, policy: Policy) -> None:
        """Let another policy decide from now on."""
        if policy.name != self._seen.policy:
            self.note("set_policy", policy=policy.name)

    def note(self, kind: str, **values: Any) -> None:
        """Change what is seen; ``values`` are plain JSON. See ``decision_log``."""
        change = Change(kind, values)
        self._seen = applied(self._seen, change)
        before = self._unwritten[-1].kind if self._unwritten else ""
        if before == kind == "set_now":
            self._unwritten.pop()  # nothing was decided in between
        self._unwritten.append(change)

    @property
    def unwritten(self) -> list[Change]:
        """The changes that the log does not have yet."""
        return list(self._unwritten)

    def written(self, count: int) -> None:
        """Forget the first ``count`` of the ``unwritten`` changes: the log has them."""
        del self._unwritten[:count]

    def decide(self, free: int) -> list[Decision]:
        """Return what to start on ``free`` devices, and note it."""
        choices = self.policy.decide(self.state, free)
        if choices:
            self.note("decided", free=free, choices=_told(choices))
        return choices

    def decide_urgent(self) -> Decision | None:
        """Return a run that should get a device at once, and note it; None if none should."""
        urgent = self.state.urgent(self.raised)
        if not urgent:
            return None
        choices = self.policy.decide(self.state.only(urgent), 1)
        self.note("decided", free=1, choices=_told(choices), urgent=urgent)
        return next(iter(choices), None)

    def knows_task(self, job_id: str, task_id: str) -> bool:
        """Has the search seen this task of a job?"""
        return job_id in self._jobs and task_id in self._jobs[job_id].tasks

    def knows(self, job_id: str) -> bool:
        """Is the job part of the search?"""
        return job_id in self._jobs

    def sync(self, tx: Transaction, job: Job) -> None:
        """Bring the state in step with ``job`` and its tasks: new ones, ended ones, cancelled ones."""
        if job.state not in SEARCHED_JOBS:
            self._forget(job)
            return
        tables = tx.scoped(job.tenant_id)
        self.follow_terms(tx, [job.tenant_id])
        known_job = self._jobs.get(job.id) or self._open(tx, tables, job)
        costs = self._known_costs(tx)
        self._follow_limits(tables, job, known_job)
        if tables.candidates.count(job_id=job.id) > len(known_job.arms):
            self._extend(tx, tables, job, known_job)
        for task in changed_tasks(tables, job, known_job.tasks):
            self._follow(job.id, known_job, task)
            if task.state in FINISHED_TASKS:
                costs.learn(task, known_job.works[known_job.arms[task.candidate_id]])
        self._learn_from_others(tx, job, known_job)
        rules = tables.applications.get(job.application_id).rules
        self._follow_history(tx, rules, job, known_job)
        self._follow_rules(tables, rules, job, known_job)
        is_active = job.state == JobState.RUNNING
        if is_active and not self.state.job(job.id).active:
            costs.news = True  # what it has may be from before it rested
        self._set_active(job.id, is_active)

    @property
    def tenants(self) -> list[str]:
        """The tenants that have a search, by id."""
        return sorted({job.tenant for job in self.state.jobs.values()})

    def costs(self, tx: Transaction) -> CostBelief:
        """Return what runs of all tenants are believed to cost."""
        return self._known_costs(tx).belief

    def pace(self, device: str) -> float:
        """Return how many times as long runs take on a kind of device as on the usual one."""
        return self._costs.pace(device) if self._costs is not None else 1.0

    def follow_costs(self) -> bool:
        """Tell the search what waiting runs are believed to cost by now; False where there was no
        result since.
        """
        if self._costs is None or not self._costs.news:
            return False
        works = {name: known.works for name, known in self._jobs.items()}
        for job_id, costs in self._costs.changes(self.state.jobs, works).items():
            self.note("set_costs", job=job_id, costs=list(map(list, costs)))
            arms = self._jobs[job_id].arms
            candidates = dict(zip(arms.values(), arms, strict=True))
            for arm, cost in costs:
                self._unwritten_costs[candidates[arm]] = cost
        return True

    def take_costs(self) -> dict[str, float]:
        """Return what candidates cost by now, by id, where it changed since this was asked."""
        taken, self._unwritten_costs = self._unwritten_costs, {}
        return taken

    def _known_costs(self, tx: Transaction) -> MachineCosts:
        if self._costs is None:
            self._costs = MachineCosts(tx, self.registry)
        return self._costs

    def move_to(self, now: float) -> list[str]:
        """Move to the present, in seconds of the epoch; return the jobs whose deadline has passed
        since.
        """
        before = self.state.now
        self.note("set_now", now=now)
        return [name for name, job in self.state.jobs.items() if before < job.deadline <= now]

    def start(self, job_id: str, arm: int, task_id: str) -> None:
        """Note a task that was just written."""
        self._jobs[job_id].tasks[task_id] = TaskState.WAITING
        self.note("started", job=job_id, arm=arm, task=task_id)
        self.raised.discard(self.state.job(job_id).tenant)

    def let_rest(self, job: Job) -> None:
        """Keep a settled job in mind no longer; when something happens to it, it is opened again.

        Where the tenant has a quota of device seconds, what the job has spent counts against it.
        """
        if self.state.terms.get(job.tenant_id, Terms()).seconds is None:
            self._forget(job)
        else:
            self.hold(job.id)

    def hold(self, job_id: str) -> None:
        """Make no decisions for a job until it is synced again."""
        self._set_active(job_id, False)

    def _set_active(self, job_id: str, active: bool) -> None:
        if self.state.job(job_id).active != active:
            self.note("set_active", job=job_id, active=active)

    def _open(self, tx: Transaction, tables: Tables, job: Job) -> _JobMirror:
        candidates = candidates_of(tables, job)
        arms = self._arms(candidates)
        self._note_runs(tx)
        rules = tables.applications.get(job.application_id).rules
        told: dict[str, Any] = {}
        if rules.histories:
            told["history"] = histories.runs(tables, self.registry, rules)
        self.note(
            "add_job",
            job=job.id,
            tenant=job.tenant_id,
            arms=told_arms(arms),
            budget=asdict(_budget(tables, job)),
            deadline=job.limits.deadline,
            since=oldest_beside(tx, job).created,
            overhead=_OVERHEAD,
            **told,
        )
        works = self._works(tables, job, candidates)
        others = done_beside(tx, job)
        known_job = _JobMirror(job.limits, arms_by_candidate(candidates), len(arms), others, works)
        known_job.histories = rules.histories
        self._jobs[job.id] = known_job
        return known_job

    def _arms(self, candidates: Sequence[Candidate]) -> list[Arm]:
        return [arm_of(self.registry, candidate) for candidate in candidates]

    def _works(self, tables: Tables, job: Job, candidates: Sequence[Candidate]) -> list[Work]:
        version = tables.versions.get(job.version_id)
        return [work_of(self.registry, candidate, version) for candidate in candidates]

    def _forget(self, job: Job) -> None:
        if job.id in self._jobs:
            del self._jobs[job.id]
            self.note("remove_job", job=job.id)

    def _follow_limits(self, tables: Tables, job: Job, known_job: _JobMirror) -> None:
        """Take over other limits; what is believed of the job stays as it is."""
        if known_job.limits == job.limits:
            return
        known_job.limits = job.limits
        self.note("set_budget", job=job.id, **asdict(_budget(tables, job)))
        self.note("set_deadline", job=job.id, deadline=job.limits.deadline)

    def follow_terms(self, tx: Transaction, tenant_ids: Sequence[str]) -> None:
        """Take over what tenants may use now: quotas of a month end, and begin again."""
        tenants = tx.tenants.list(id=list(tenant_ids), limit=None)
        for tenant_id, terms in quotas.terms(tx, tenants).items():
            known = self.state.terms.get(tenant_id, Terms())
            if terms == known:
                continue
            if terms.priority > known.priority:
                self.raised.add(tenant_id)
            self.note("set_terms", tenant=tenant_id, **asdict(terms))

    def _follow_history(
        self, tx: Transaction, rules: Rules, job: Job, known_job: _JobMirror
    ) -> None:
        """Learn anew where the application was given another history."""
        if known_job.histories == rules.histories:
            return
        known_job.histories = rules.histories
        known_job.known = len(known_job.arms)
        self._note_runs(tx)
        history = histories.runs(tx.scoped(job.tenant_id), self.registry, rules)
        since = oldest_beside(tx, job).created
        self.note("set_history", job=job.id, history=history, since=since)

    def _follow_rules(self, tables: Tables, rules: Rules, job: Job, known_job: _JobMirror) -> None:
        """Tell the search how likely its arms keep the limits on models, where there are any.

        Those of modules that do nothing but fail have no chance, nor those that need a GPU where
        no worker has one.
        """
        limits = model_limits.limits(rules)
        arms = self.state.job(job.id).arms
        hopeless = [place for place, arm in enumerate(arms) if self._is_hopeless(arm)]
        if not limits and not hopeless and not known_job.chances:
            return
        models = tables.models.list(job_id=job.id, limit=None)
        chances: list[float] = []
        if limits:
            measured = model_limits.measured_arms(tables, models, known_job.arms)
            chances = feasible.chances(arms, measured, limits)
        elif hopeless:
            chances = [1.0] * len(arms)
        for place in hopeless:
            chances[place] = 0.0
        chances = list(map(round, chances, repeat(_DIGITS)))
        best = best_that_may_serve(models, known_job.arms, chances)
        if chances != known_job.chances or best != self.state.job(job.id).best:
            known_job.chances = chances
            self.note("set_chances", job=job.id, chances=chances, best=best)

    def _is_hopeless(self, arm: Arm) -> bool:
        """Whether the model of an arm, or an added transform before it, does nothing but fail, or
        needs a GPU that no worker has.
        """
        hopeless = self.registry.faulty
        if not self.has_gpu:
            hopeless |= self.registry.asking_for_gpus
        return not hopeless.isdisjoint(arm.model.split("+"))

    def _extend(self, tx: Transaction, tables: Tables, job: Job, known_job: _JobMirror) -> None:
        """Take in the candidates that were added.

        The belief grows by them; it is learned anew for a new model, and whenever there are half as
        many arms again, so that all learning for a job with K candidates costs no more than a few
        times learning for K.
        """
        candidates = candidates_of(tables, job)
        added = candidates[len(known_job.arms) :]
        new = self._arms(added)
        known_job.works += self._works(tables, job, added)
        count = len(known_job.arms) + len(new)
        models = self._seen.learned[job.id].models
        is_new_model = any(arm.model not in models for arm in new)
        since = None
        if is_new_model or count >= _LEARN_AGAIN * known_job.known:
            self._note_runs(tx)
            since = oldest_beside(tx, job).created
            known_job.known = count
        self.note("add_arms", job=job.id, arms=told_arms(new), since=since)
        known_job.arms.update(arms_by_candidate(candidates))

    def _learn_from_others(self, tx: Transaction, job: Job, known_job: _JobMirror) -> None:
        """Learn anew when other jobs have done many more tasks: while few are known, each tells
        much.
        """
        if knows_enough(known_job.others):
            return
        others = done_beside(tx, job)
        if worth_learning(known_job.others, others):
            self._note_runs(tx)
            self.note("set_prior", job=job.id, since=oldest_beside(tx, job).created)
            known_job.known = len(known_job.arms)
            known_job.others = others

    def _note_runs(self, tx: Transaction) -> None:
        """Note the finished tasks that beliefs are learned from, before anything is learned."""
        known = {} if self._reads_anew else self._seen.runs
        self._reads_anew = False
        runs = told_runs(self._seen.runs, finished_runs(tx, self.registry, known))
        if runs:
            self.note("set_runs", runs=runs)

    def _follow(self, job_id: str, known_job: _JobMirror, task: Task) -> None:
        known = known_job.tasks.get(task.id)
        now = state_seen(task.state)
        if known == now:
            return
        known_job.tasks[task.id] = now
        arm = known_job.arms[task.candidate_id]
        if known is None and now != TaskState.CANCELLED:
            self.note("started", job=job_id, arm=arm, task=task.id)
        if now in FINISHED_TASKS:
            self.note("observed", job=job_id, arm=arm, quality=task.quality, cost=task.cost)
        elif now == TaskState.CANCELLED and known is not None:
            self.note("released", job=job_id, arm=arm, seconds=task.cost)


def _told(choices: Sequence[Decision]) -> list[list[Any]]:
    """Return decisions as plain JSON: job and arm of each."""
    return [[one.job, one.arm] for one in choices]


def _budget(tables: Tables, job: Job) -> Budget:
    """Return what a job may use; results that it has from the search before use up nothing."""
    tasks = job.limits.tasks
    if tasks is not None:
        tasks += kept_results.count(tables, job.id)
    return Budget(tasks=tasks, seconds=job.limits.seconds)
