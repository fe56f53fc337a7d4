"""The scheduler's side of a search: jobs start, choices become tasks, progress is kept, converged
jobs rest.
"""

import math
from typing import Any

from easeml.contract.tasks import TrainSpec
from easeml.ids import new_id
from easeml.modules import Registry
from easeml.search import Decision as Choice
from easeml.search import SearchState, remaining
from easeml.service import jobs, knowledge
from easeml.service.candidates import best_before, make_candidates
from easeml.service.experience import finished_trials
from easeml.store import Rooms, Transaction
from easeml.store.records import Application, Candidate, Decision, Job, Task

UNDER_WAY = ("waiting", "running")


def start_ready_jobs(tx: Transaction, registry: Registry) -> list[Job]:
    """Let every job whose version is ready run, with its candidates; returns those that started.

    A job for which no candidate is left fails.
    """
    started = []
    registry = knowledge.current(tx, registry)
    for job in tx.unscoped().jobs.list(state="preparing", limit=None):
        version = tx.unscoped().versions.get(job.version_id)
        if version.state == "ready":
            started.append(_start(tx, registry, job))
    return [job for job in started if job.state == "running"]


def write_decision(
    tx: Transaction, registry: Registry, choice: Choice, policy: str, epoch: int
) -> Task | None:
    """Write the training task of a choice with the decision that explains it.

    None (and nothing is written) if the job was paused, stopped or used up meanwhile, or the
    candidate was taken.
    """
    job = tx.unscoped().jobs.get(choice.job)
    rooms = tx.scoped(job.tenant_id)
    candidate = rooms.candidates.find(job_id=job.id, arm=choice.arm)
    if job.state != "running" or candidate is None or not within_limits(tx, job):
        return None
    if rooms.tasks.count(candidate_id=candidate.id, state=[*UNDER_WAY, "done", "failed"]):
        return None
    task = rooms.tasks.add(_train_task(rooms, registry, job, candidate))
    rooms.decisions.add(
        Decision(
            id=new_id("dec"),
            tenant_id=job.tenant_id,
            job_id=job.id,
            task_id=task.id,
            candidate_id=candidate.id,
            policy=policy,
            epoch=epoch,
            explanation=choice.explanation,
        )
    )
    tx.events.append(
        "task.waiting", task.id, {"job_id": job.id, "name": candidate.name}, job.tenant_id
    )
    return task


def update_progress(tx: Transaction, job_id: str, state: SearchState) -> Job:
    """Write a job's best quality, cost and expected improvement; let it rest when it is done, wake
    it when it is not.

    A job rests when the improvement still expected is at most its tolerance (what is under way may
    finish, and may wake it), and when nothing is under way and every candidate was tried or its
    limits are used up.
    """
    job = tx.unscoped().jobs.get(job_id)
    rooms = tx.scoped(job.tenant_id)
    changes = _progress(rooms, job, state)
    if any(getattr(job, name) != value for name, value in changes.items()):
        job = rooms.jobs.update(job.id, **changes)
    if job.state == "running" and _is_done(tx, job):
        return jobs.set_state(tx, job, "resting", "job.resting")
    if job.state == "resting" and not _is_done(tx, job):
        return jobs.set_state(tx, job, "running", "job.running")
    return job


def within_limits(tx: Transaction, job: Job) -> bool:
    """May another task of this job start before its deadline?

    Tasks under way count as tasks, and with the cost predicted for them.
    """
    if tx.now() >= job.limits.get("deadline", math.inf):
        return False
    rooms = tx.scoped(job.tenant_id)
    most_tasks, most_seconds = job.limits.get("tasks"), job.limits.get("seconds")
    if (
        most_seconds is not None
        and job.cost + _predicted_cost_under_way(rooms, job) >= most_seconds
    ):
        return False
    states = [*UNDER_WAY, "done", "failed"]
    return (
        most_tasks is None
        or rooms.tasks.count(job_id=job.id, kind="train", state=states) < most_tasks
    )


def _predicted_cost_under_way(rooms: Rooms, job: Job) -> float:
    tasks = rooms.tasks.list(job_id=job.id, kind="train", state=list(UNDER_WAY), limit=None)
    candidates = (
        rooms.candidates.list(id=[task.candidate_id for task in tasks], limit=None) if tasks else []
    )
    return sum(candidate.predicted_cost for candidate in candidates)


def _start(tx: Transaction, registry: Registry, job: Job) -> Job:
    rooms = tx.scoped(job.tenant_id)
    application = rooms.applications.get(job.application_id)
    version = rooms.versions.get(job.version_id)
    before = best_before(rooms, job)
    candidates = make_candidates(registry, application, job, version, finished_trials(tx), before)
    if not candidates:
        error = "No model of the knowledge base fits the prepared data."
        rooms.applications.update(application.id, state="failed")
        tx.events.append("application.failed", application.id, {"error": error}, job.tenant_id)
        return jobs.set_state(tx, job, "failed", "job.failed", error=error)
    rooms.candidates.add_all(candidates)
    if application.state == "declared":
        rooms.applications.update(application.id, state="searching")
    return jobs.set_state(tx, job, "running", "job.running")


def _train_task(rooms: Rooms, registry: Registry, job: Job, candidate: Candidate) -> Task:
    application: Application = rooms.applications.get(job.application_id)
    version = rooms.versions.get(job.version_id)
    spec = TrainSpec(
        pipeline=knowledge.pipeline_of(registry, candidate),
        objective=application.objective,
        schema_in=version.schema_in,
        schema_out=version.schema_out,
        seed=version.operation["seed"],
    )
    return Task(
        id=new_id("task"),
        tenant_id=job.tenant_id,
        kind="train",
        lane="search",
        payload=spec.model_dump(),
        subject=application.id,
        job_id=job.id,
        candidate_id=candidate.id,
        max_attempts=1 + int(registry.get(candidate.model).resources.get("retries", 1)),
    )


def _progress(rooms: Rooms, job: Job, state: SearchState) -> dict[str, Any]:
    tasks = rooms.tasks.list(job_id=job.id, kind="train", state=["done", "failed"], limit=None)
    qualities = [task.quality for task in tasks if task.quality is not None]
    left = remaining(state, job.id)
    return {
        "best_quality": max(qualities, default=None),
        "cost": sum(task.cost for task in tasks),
        "expected_improvement": left.expected,
        "expected_improvement_error": left.error,
        "gain_rate": state.job(job.id).best_rate,
    }


def _is_done(tx: Transaction, job: Job) -> bool:
    rooms = tx.scoped(job.tenant_id)
    converged = job.expected_improvement is not None and job.expected_improvement <= job.tolerance
    if converged and job.best_quality is not None:
        return True
    if rooms.tasks.count(job_id=job.id, kind="train", state=list(UNDER_WAY)):
        return False
    tried = rooms.tasks.count(job_id=job.id, kind="train", state=["done", "failed"])
    return tried >= rooms.candidates.count(job_id=job.id) or not within_limits(tx, job)
