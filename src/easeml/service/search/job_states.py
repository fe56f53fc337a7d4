"""Jobs start, note how far they are, rest when they are done, and wake when they are not."""

from typing import Any

from easeml.contract.states import (
    FINISHED_TASKS,
    TASKS_UNDER_WAY,
    ApplicationState,
    JobState,
    TaskGroup,
    VersionState,
)
from easeml.modules import Registry
from easeml.search import CostBelief, SearchState, is_little_left, remaining
from easeml.service.knowledge import knowledge_base
from easeml.service.search import histories, jobs, kept_results, model_limits, suggesting
from easeml.service.search.candidates import best_before, make_candidates
from easeml.service.search.spending import spent_seconds
from easeml.service.search.training_tasks import within_limits
from easeml.store import Tables, Transaction
from easeml.store.records import Job


def start_ready_jobs(tx: Transaction, registry: Registry, costs: CostBelief) -> list[Job]:
    """Let every job whose version is ready run, with its candidates; returns those that started.

    ``costs``: what runs are believed to cost. A job for which no candidate is left fails.
    """
    preparing = tx.unscoped().jobs.list(state=JobState.PREPARING, limit=None)
    ready = [job for job in preparing if _has_its_data(tx, job)]
    if not ready:
        return []
    registry = knowledge_base.current(tx, registry)
    started = [_start(tx, registry, job, costs) for job in ready]
    return [job for job in started if job.state == JobState.RUNNING]


def _has_its_data(tx: Transaction, job: Job) -> bool:
    version = tx.unscoped().versions.get(job.version_id)
    if version.state != VersionState.READY:
        return False
    return not kept_results.is_under_way(tx.scoped(job.tenant_id), job)


def update_progress(tx: Transaction, job_id: str, state: SearchState) -> Job:
    """Write a job's best quality, cost and expected improvement.

    It rests when it is done, and wakes when it is not.

    A job rests when little is left to gain, by its tolerance (what is under way may finish, and may
    wake it), and when nothing is under way, no optimizer is being asked, and every
    candidate was tried or its limits are used up.
    """
    job = tx.unscoped().jobs.get(job_id)
    tables = tx.scoped(job.tenant_id)
    changes = _progress(tables, job, state)
    is_news = any(getattr(job, name) != value for name, value in changes.items())
    if is_news:
        job = tables.jobs.update(job.id, **changes)

    if job.state not in (JobState.RUNNING, JobState.RESTING):
        return job
    wanted = JobState.RESTING if _is_done(tx, job) else JobState.RUNNING
    if job.state == wanted:
        return job
    return jobs.set_state(tx, job, wanted, f"job.{wanted}")


def note_whether_settled(tx: Transaction, job: Job) -> bool:
    """Write whether ``job`` rests and nothing that follows from it waits or runs; return it.

    To be called after everything that a rest may ask for was asked for.
    """
    tables = tx.scoped(job.tenant_id)
    under_way = tables.tasks.count(job_id=job.id, state=TASKS_UNDER_WAY)
    settled = job.state == JobState.RESTING and under_way == 0
    if settled != job.settled:
        tables.jobs.update(job.id, settled=settled)
    return settled


def _start(tx: Transaction, registry: Registry, job: Job, costs: CostBelief) -> Job:
    tables = tx.scoped(job.tenant_id)
    application = tables.applications.get(job.application_id)
    version = tables.versions.get(job.version_id)
    before = best_before(tables, job)
    told = histories.best(tables, registry, application.rules)
    there = tables.candidates.list(job_id=job.id, limit=None)
    candidates = make_candidates(registry, application, job, version, costs, before, told, there)
    if not candidates and not there:
        error = "No model of the knowledge base fits the prepared data."
        tables.applications.update(application.id, state=ApplicationState.FAILED)
        tx.events.append("application.failed", application.id, {"error": error}, job.tenant_id)
        return jobs.set_state(tx, job, JobState.FAILED, "job.failed", error=error)
    tables.candidates.add_all(candidates)
    if application.state == ApplicationState.DECLARED:
        tables.applications.update(application.id, state=ApplicationState.SEARCHING)
    return jobs.set_state(tx, job, JobState.RUNNING, "job.running")


def _progress(tables: Tables, job: Job, state: SearchState) -> dict[str, Any]:
    """Return what is written of the search: fields of its job."""
    finished = tables.tasks.pick(
        "id", "quality", job_id=job.id, kind=TaskGroup.TRAIN, state=FINISHED_TASKS
    )
    left_out = _tasks_that_break_rules(tables, job)
    counted = [quality for task_id, quality in finished if task_id not in left_out]
    qualities = [quality for quality in counted if quality is not None]
    left = remaining(state, job.id)
    return {
        "best_quality": max(qualities, default=None),
        "cost": spent_seconds(tables, job.id),
        "expected_improvement": left.expected,
        "expected_improvement_error": left.error,
        "gain_rate": state.job(job.id).best_gain_rate,
    }


def _tasks_that_break_rules(tables: Tables, job: Job) -> set[str]:
    """Return the tasks whose models may not serve, by the rules of the application."""
    rules = tables.applications.get(job.application_id).rules
    if not model_limits.are_any(rules):
        return set()
    models = tables.models.list(job_id=job.id, limit=None)
    breaking = model_limits.breaking(tables, rules, models)
    return {model.task_id for model in models if model.id in breaking}


def _is_done(tx: Transaction, job: Job) -> bool:
    tables = tx.scoped(job.tenant_id)
    if _has_converged(tables, job):
        return True
    if tables.tasks.count(job_id=job.id, kind=TaskGroup.TRAIN, state=TASKS_UNDER_WAY):
        return False
    if not within_limits(tx, job):
        return True
    if suggesting.is_under_way(tx, job):
        return False  # it may bring more candidates
    return _tried(tables, job) >= tables.candidates.count(job_id=job.id)


def _tried(tables: Tables, job: Job) -> int:
    return tables.tasks.count(job_id=job.id, kind=TaskGroup.TRAIN, state=FINISHED_TASKS)


def _has_converged(tables: Tables, job: Job) -> bool:
    """Whether a job has a result, and so little is expected of more that it may rest."""
    if job.best_quality is None or job.expected_improvement is None:
        return False
    if job.expected_improvement > job.tolerance:
        return False
    return is_little_left(job.expected_improvement, _tried(tables, job), job.tolerance)
