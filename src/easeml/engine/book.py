"""The scheduler's picture of all searches: a ``SearchState`` kept in step with the rows of the
store.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

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
    set_now,
    set_prior,
    set_terms,
    started,
    worth_learning,
)
from easeml.service import quotas
from easeml.service.beliefs import arm_of, learned_of
from easeml.service.experience import finished_trials
from easeml.store import Rooms, Transaction
from easeml.store.records import Job, Json, Task

_SEARCHED = ("running", "resting", "paused")
_LEARN_AGAIN = 1.5  # times as many candidates as when a job's prior was learned


@dataclass
class _Page:
    """What the state already knows of a job: its limits, arms by candidate id, and its tasks'
    states by task id.

    ``learned``: what its belief comes from, learned when it had ``known`` arms and the jobs beside
    it had done ``others`` tasks.
    """

    limits: Json
    arms: dict[str, int]
    learned: Learned
    known: int
    others: int
    tasks: dict[str, str] = field(default_factory=dict)


class Book:
    """Follows the rows: ``sync`` after every change of a job; ``state`` is then what the policy
    decides on.
    """

    def __init__(self, policy: Policy, registry: Registry):
        self.policy = policy
        self.registry = registry
        self.state = SearchState()
        self._pages: dict[str, _Page] = {}

    def knows(self, job_id: str) -> bool:
        """Is the job part of the search?"""
        return job_id in self._pages

    def sync(self, tx: Transaction, job: Job) -> None:
        """Bring the state in step with ``job`` and its tasks: new ones, ended ones, cancelled ones."""
        page = self._pages.get(job.id)
        if page and (job.state not in _SEARCHED or page.limits != job.limits):
            del self._pages[job.id]  # other limits: read anew from the rows, as a new leader does
            self.state = remove_job(self.state, job.id)
        if job.state not in _SEARCHED:
            return
        rooms = tx.scoped(job.tenant_id)
        self._follow_terms(tx, job.tenant_id)
        page = self._pages.get(job.id) or self._open(tx, rooms, job)
        if rooms.candidates.count(job_id=job.id) > len(page.arms):
            self._extend(tx, rooms, job, page)
        for task in rooms.tasks.list(job_id=job.id, kind="train", limit=None):
            self._follow(job.id, page, task)
        self._learn_from_others(tx, job, page)
        self.state = set_active(self.state, job.id, job.state == "running")

    def move_to(self, now: float) -> list[str]:
        """Move to the present, in seconds of the epoch; return the jobs whose deadline has passed
        since.
        """
        before, self.state = self.state.now, set_now(self.state, now)
        return [name for name, job in self.state.jobs.items() if before < job.deadline <= now]

    def start(self, job_id: str, arm: int, task_id: str) -> None:
        """Note a task that was just written."""
        self._pages[job_id].tasks[task_id] = "waiting"
        self.state = started(self.state, job_id, arm)

    def hold(self, job_id: str) -> None:
        """Make no decisions for a job until it is synced again."""
        self.state = set_active(self.state, job_id, False)

    def _open(self, tx: Transaction, rooms: Rooms, job: Job) -> _Page:
        candidates = sorted(rooms.candidates.list(job_id=job.id, limit=None), key=lambda c: c.arm)
        arms = [arm_of(self.registry, candidate) for candidate in candidates]
        learned = self._learn(tx, job, arms)
        budget = Budget(tasks=job.limits.get("tasks"), seconds=job.limits.get("seconds"))
        deadline = job.limits.get("deadline", math.inf)
        self.state = add_job(
            self.state,
            job.id,
            job.tenant_id,
            arms,
            learned.over(arms),
            budget=budget,
            deadline=deadline,
        )
        places = {candidate.id: candidate.arm for candidate in candidates}
        page = self._pages[job.id] = _Page(
            job.limits, places, learned, len(arms), _done_beside(tx, job)
        )
        return page

    def _follow_terms(self, tx: Transaction, tenant_id: str) -> None:
        terms = quotas.terms(tx.tenants.get(tenant_id))
        if self.state.terms.get(tenant_id, Terms()) != terms:
            self.state = set_terms(self.state, tenant_id, terms)

    def _extend(self, tx: Transaction, rooms: Rooms, job: Job, page: _Page) -> None:
        """Take in the candidates that were added.

        The belief grows by them; it is learned anew for a new model, and whenever there are half as
        many arms again, so that all learning for a job with K candidates costs no more than a few
        times learning for K.
        """
        candidates = sorted(rooms.candidates.list(job_id=job.id, limit=None), key=lambda c: c.arm)
        new = [arm_of(self.registry, candidate) for candidate in candidates[len(page.arms) :]]
        searched = self.state.job(job.id)
        arms = [*searched.arms, *new]
        if len(arms) >= _LEARN_AGAIN * page.known or any(
            arm.model not in page.learned.models for arm in new
        ):
            page.learned, page.known = self._learn(tx, job, arms), len(arms)
            prior = page.learned.over(arms)
        else:
            prior = page.learned.extended(searched.posterior.prior, searched.arms, new)
        self.state = add_arms(self.state, job.id, new, prior)
        page.arms.update({candidate.id: candidate.arm for candidate in candidates})

    def _learn_from_others(self, tx: Transaction, job: Job, page: _Page) -> None:
        """Learn anew when other jobs have done many more tasks: while few are known, each tells
        much.
        """
        others = _done_beside(tx, job)
        if worth_learning(page.others, others):
            arms = self.state.job(job.id).arms
            page.learned, page.known, page.others = self._learn(tx, job, arms), len(arms), others
            self.state = set_prior(self.state, job.id, page.learned.over(arms))

    def _learn(self, tx: Transaction, job: Job, arms: Sequence[Arm]) -> Learned:
        """Return what all finished tasks teach; searched beside this job are those since the oldest
        that still runs.
        """
        return learned_of(
            self.registry, arms, finished_trials(tx), job, _oldest_beside(tx, job).created
        )

    def _follow(self, job_id: str, page: _Page, task: Task) -> None:
        known, now = page.tasks.get(task.id), "waiting" if task.state == "running" else task.state
        if known == now:
            return
        page.tasks[task.id] = now
        arm = page.arms[task.candidate_id]
        if known is None and now != "cancelled":
            self.state = started(self.state, job_id, arm)
        if now in ("done", "failed"):
            self.state = self.policy.observe(
                self.state, Observation(job_id, arm, task.quality, task.cost)
            )
        elif now == "cancelled" and known is not None:
            self.state = released(self.state, job_id, arm)


def _oldest_beside(tx: Transaction, job: Job) -> Job:
    """Return the oldest job that still runs, or this one: all since are searched beside it."""
    running = tx.unscoped().jobs.list(state="running", limit=1)
    return min((job, *running), key=lambda one: one.created)


def _done_beside(tx: Transaction, job: Job) -> int:
    """Return how many tasks the jobs that are searched beside this one have done."""
    rooms, oldest = tx.unscoped(), _oldest_beside(tx, job)
    beside = {oldest.id, *(later.id for later in rooms.jobs.list(after=oldest.id, limit=None))} - {
        job.id
    }
    return rooms.tasks.count(job_id=list(beside), kind="train", state="done") if beside else 0
