"""The scheduler's picture of all searches: a ``SearchState`` kept in step with the rows of the
store.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from easeml.contract.states import FINISHED_TASKS, SEARCHED_JOBS, JobState, TaskGroup, TaskState
from easeml.modules import Registry
from easeml.search import (
    Arm,
    Budget,
    Learned,
    Observation,
    Policy,
    SearchState,
    Terms,
    add_arms,
    add_job,
    released,
    remove_job,
    set_active,
    set_budget,
    set_deadline,
    set_now,
    set_prior,
    set_terms,
    started,
    worth_learning,
)
from easeml.service.knowledge.trials import finished_trials
from easeml.service.limits import quotas
from easeml.service.search.beliefs import arm_of, learned_of
from easeml.store import Tables, Transaction
from easeml.store.records import Job, Task
from easeml.store.shapes import JobLimits

_LEARN_AGAIN = 1.5  # times as many candidates as when a job's prior was learned


@dataclass
class _JobMirror:
    """What the state already knows of a job: its limits, arms by candidate id, and its tasks'
    states by task id.

    ``learned``: what its belief comes from, learned when it had ``known`` arms and the jobs beside
    it had done ``others`` tasks.
    """

    limits: JobLimits
    arms: dict[str, int]
    learned: Learned
    known: int
    others: int
    tasks: dict[str, TaskState] = field(default_factory=dict)


class SearchMirror:
    """Follows the rows: ``sync`` after every change of a job; ``state`` is then what the policy
    decides on.
    """

    def __init__(self, policy: Policy, registry: Registry):
        self.policy = policy
        self.registry = registry
        self.state = SearchState()
        self._jobs: dict[str, _JobMirror] = {}

    def knows(self, job_id: str) -> bool:
        """Is the job part of the search?"""
        return job_id in self._jobs

    def sync(self, tx: Transaction, job: Job) -> None:
        """Bring the state in step with ``job`` and its tasks: new ones, ended ones, cancelled ones."""
        if job.state not in SEARCHED_JOBS:
            self._forget(job)
            return
        tables = tx.scoped(job.tenant_id)
        self._follow_terms(tx, job.tenant_id)
        known_job = self._jobs.get(job.id) or self._open(tx, tables, job)
        self._follow_limits(job, known_job)
        if tables.candidates.count(job_id=job.id) > len(known_job.arms):
            self._extend(tx, tables, job, known_job)
        for task in tables.tasks.list(
            job_id=job.id,
            kind=TaskGroup.TRAIN,
            limit=None,
        ):
            self._follow(job.id, known_job, task)
        self._learn_from_others(tx, job, known_job)
        self.state = set_active(self.state, job.id, job.state == JobState.RUNNING)

    def move_to(self, now: float) -> list[str]:
        """Move to the present, in seconds of the epoch; return the jobs whose deadline has passed
        since.
        """
        before, self.state = self.state.now, set_now(self.state, now)
        return [name for name, job in self.state.jobs.items() if before < job.deadline <= now]

    def start(self, job_id: str, arm: int, task_id: str) -> None:
        """Note a task that was just written."""
        self._jobs[job_id].tasks[task_id] = TaskState.WAITING
        self.state = started(self.state, job_id, arm)

    def hold(self, job_id: str) -> None:
        """Make no decisions for a job until it is synced again."""
        self.state = set_active(self.state, job_id, False)

    def _open(self, tx: Transaction, tables: Tables, job: Job) -> _JobMirror:
        candidates = sorted(tables.candidates.list(job_id=job.id, limit=None), key=lambda c: c.arm)
        arms = [arm_of(self.registry, candidate) for candidate in candidates]
        learned = self._learn(tx, job, arms)
        self.state = add_job(
            self.state,
            job.id,
            job.tenant_id,
            arms,
            learned.over(arms),
            budget=_budget(job),
            deadline=_deadline(job),
        )
        places = {candidate.id: candidate.arm for candidate in candidates}
        known_job = self._jobs[job.id] = _JobMirror(
            job.limits, places, learned, len(arms), _done_beside(tx, job)
        )
        return known_job

    def _forget(self, job: Job) -> None:
        if job.id in self._jobs:
            del self._jobs[job.id]
            self.state = remove_job(self.state, job.id)

    def _follow_limits(self, job: Job, known_job: _JobMirror) -> None:
        """Take over other limits; what is believed of the job stays as it is."""
        if known_job.limits == job.limits:
            return
        known_job.limits = job.limits
        self.state = set_budget(self.state, job.id, _budget(job))
        self.state = set_deadline(self.state, job.id, _deadline(job))

    def _follow_terms(self, tx: Transaction, tenant_id: str) -> None:
        terms = quotas.terms(tx.tenants.get(tenant_id))
        if self.state.terms.get(tenant_id, Terms()) != terms:
            self.state = set_terms(self.state, tenant_id, terms)

    def _extend(self, tx: Transaction, tables: Tables, job: Job, known_job: _JobMirror) -> None:
        """Take in the candidates that were added.

        The belief grows by them; it is learned anew for a new model, and whenever there are half as
        many arms again, so that all learning for a job with K candidates costs no more than a few
        times learning for K.
        """
        candidates = sorted(tables.candidates.list(job_id=job.id, limit=None), key=lambda c: c.arm)
        new = [arm_of(self.registry, candidate) for candidate in candidates[len(known_job.arms) :]]
        searched = self.state.job(job.id)
        arms = [*searched.arms, *new]
        if len(arms) >= _LEARN_AGAIN * known_job.known or any(
            arm.model not in known_job.learned.models for arm in new
        ):
            known_job.learned, known_job.known = self._learn(tx, job, arms), len(arms)
            prior = known_job.learned.over(arms)
        else:
            prior = known_job.learned.extended(searched.posterior.prior, searched.arms, new)
        self.state = add_arms(self.state, job.id, new, prior)
        known_job.arms.update({candidate.id: candidate.arm for candidate in candidates})

    def _learn_from_others(self, tx: Transaction, job: Job, known_job: _JobMirror) -> None:
        """Learn anew when other jobs have done many more tasks: while few are known, each tells
        much.
        """
        others = _done_beside(tx, job)
        if worth_learning(known_job.others, others):
            arms = self.state.job(job.id).arms
            known_job.learned, known_job.known, known_job.others = (
                self._learn(tx, job, arms),
                len(arms),
                others,
            )
            self.state = set_prior(self.state, job.id, known_job.learned.over(arms))

    def _learn(self, tx: Transaction, job: Job, arms: Sequence[Arm]) -> Learned:
        """Return what all finished tasks teach; searched beside this job are those since the oldest
        that still runs.
        """
        return learned_of(
            self.registry, arms, finished_trials(tx), job, _oldest_beside(tx, job).created
        )

    def _follow(self, job_id: str, known_job: _JobMirror, task: Task) -> None:
        known, now = (
            known_job.tasks.get(task.id),
            TaskState.WAITING if task.state == TaskState.RUNNING else task.state,
        )
        if known == now:
            return
        known_job.tasks[task.id] = now
        arm = known_job.arms[task.candidate_id]
        if known is None and now != TaskState.CANCELLED:
            self.state = started(self.state, job_id, arm)
        if now in FINISHED_TASKS:
            self.state = self.policy.observe(
                self.state, Observation(job_id, arm, task.quality, task.cost)
            )
        elif now == TaskState.CANCELLED and known is not None:
            self.state = released(self.state, job_id, arm, task.cost)


def _budget(job: Job) -> Budget:
    return Budget(tasks=job.limits.tasks, seconds=job.limits.seconds)


def _deadline(job: Job) -> float:
    deadline = job.limits.deadline
    return math.inf if deadline is None else deadline


def _oldest_beside(tx: Transaction, job: Job) -> Job:
    """Return the oldest job that still runs, or this one: all since are searched beside it."""
    running = tx.unscoped().jobs.list(state=JobState.RUNNING, limit=1)
    return min((job, *running), key=lambda one: one.created)


def _done_beside(tx: Transaction, job: Job) -> int:
    """Return how many tasks the jobs that are searched beside this one have done."""
    tables, oldest = tx.unscoped(), _oldest_beside(tx, job)
    beside = {oldest.id, *(later.id for later in tables.jobs.list(after=oldest.id, limit=None))} - {
        job.id
    }
    return (
        tables.tasks.count(
            job_id=list(beside),
            kind=TaskGroup.TRAIN,
            state=TaskState.DONE,
        )
        if beside
        else 0
    )
