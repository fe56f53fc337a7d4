"""Jobs: watching and steering a model search."""

from datetime import datetime

from easeml.contract import measures
from easeml.contract.jobs import Improvement
from easeml.contract.jobs import Job as JobAnswer
from easeml.contract.jobs import JobLimits as AskedLimits
from easeml.contract.parameters import After, Limit, OfApplication
from easeml.contract.resources import Page
from easeml.contract.states import ENDED_JOBS, SEARCHED_JOBS, JobState, TaskGroup, TaskState
from easeml.errors import Conflict
from easeml.ids import new_id
from easeml.service.access.caller import Caller
from easeml.service.access.paging import page_records
from easeml.service.search import summaries, waiting
from easeml.service.search.summaries import Result, Summary
from easeml.service.search.waiting import Waiting
from easeml.service.tasks import requests
from easeml.store import Store, Tables, Transaction
from easeml.store.records import Job
from easeml.store.shapes import JobLimits, given


def get(store: Store, caller: Caller, job_id: str) -> JobAnswer:
    """Return a job with its counts; raises ``NotFound``."""
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        return show(tx, tables.jobs.get(job_id))


def list_page(
    store: Store,
    caller: Caller,
    *,
    after: After = None,
    limit: Limit = 50,
    application_id: OfApplication = None,
) -> Page[JobAnswer]:
    """Return a page of the tenant's jobs, oldest first."""
    equals = given(application_id=application_id)
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        found, following = page_records(tables.jobs, after, limit, **equals)
        return Page(items=show_all(tx, found), next=following)


def pause(store: Store, caller: Caller, job_id: str) -> JobAnswer:
    """Start nothing new for a job; doing so again changes nothing.

    What runs may finish; what waits is cancelled. Raises ``NotFound``, ``Conflict`` where its state
    does not allow it.
    """
    allowed = (JobState.RUNNING, JobState.RESTING)
    return _change(store, caller, job_id, allowed, JobState.PAUSED)


def resume(store: Store, caller: Caller, job_id: str) -> JobAnswer:
    """Go on with a paused job; doing so again changes nothing.

    Raises ``NotFound``, ``Conflict`` where its state does not allow it.
    """
    allowed = (JobState.PAUSED, JobState.RESTING)
    return _change(store, caller, job_id, allowed, JobState.RUNNING)


def stop(store: Store, caller: Caller, job_id: str) -> JobAnswer:
    """End a job for good; what it found stays, and doing so again changes nothing.

    What runs may finish; what waits is cancelled. Raises ``NotFound``, ``Conflict`` where its state
    does not allow it.
    """
    allowed = (JobState.PREPARING, *SEARCHED_JOBS)
    return _change(store, caller, job_id, allowed, JobState.STOPPED)


def _change(
    store: Store, caller: Caller, job_id: str, allowed: tuple[JobState, ...], target: JobState
) -> JobAnswer:
    """Move a job from one of the states ``allowed`` to ``target``."""
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        job = tables.jobs.get(job_id)
        if job.state == target:
            return show(tx, job)
        if job.state not in allowed:
            remedy = f"It becomes {target} when it is {' or '.join(allowed)}."
            raise Conflict(f"The job is {job.state}.", remedy=remedy, where=job_id)
        event = "job.resumed" if target == JobState.RUNNING else f"job.{target}"
        job = set_state(tx, job, target, event)
        if target != JobState.RUNNING:
            cancel_waiting(tx, tables, job_id)
        return show(tx, job)


def set_limits(store: Store, caller: Caller, job_id: str, wish: AskedLimits) -> JobAnswer:
    """Change what a job may use in all.

    A job that rests because of its limits goes on if they were raised.

    Raises ``NotFound``, ``Conflict`` for a job that has ended.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        job = tables.jobs.get(job_id)
        if job.state in ENDED_JOBS:
            raise Conflict(
                f"The job is {job.state}.", remedy="Declare the application again.", where=job_id
            )
        wished = limits(wish.max_tasks, wish.max_seconds, wish.deadline)
        job = tables.jobs.update(job_id, limits=wished, settled=False)
        data = {
            "application_id": job.application_id,
            "state": job.state,
            "limits": job.limits.to_json(),
        }
        tx.events.append("job.limited", job_id, data, job.tenant_id)
        return show(tx, job)


def limits(
    max_tasks: int | None, max_seconds: float | None, deadline: datetime | None
) -> JobLimits:
    """Return a job's limits as they are kept."""
    return JobLimits(max_tasks, max_seconds, deadline.timestamp() if deadline else None)


def set_state(tx: Transaction, job: Job, state: JobState, event: str, **changes: object) -> Job:
    """Move a job from the state it was read in to ``state``, and say so.

    It has not settled there: a new leader of the schedulers looks at it at once. Raises ``Conflict``
    if it moved meanwhile.
    """
    job = tx.scoped(job.tenant_id).jobs.update(
        job.id, where={"state": job.state}, state=state, settled=False, **changes
    )
    data = {"application_id": job.application_id, "state": state}
    tx.events.append(event, job.id, data, job.tenant_id)
    return job


def cancel_waiting(tx: Transaction, tables: Tables, job_id: str) -> None:
    """Cancel the training tasks of a job that wait for a device."""
    requests.cancel(tx, tables, job_id=job_id, kind=TaskGroup.TRAIN, state=TaskState.WAITING)


def begin_again(tx: Transaction, before: Job, version_id: str) -> Job:
    """End a search, and begin one like it on a version of the data; return that.

    Its models stay. What runs of it may finish, what waits is cancelled.
    """
    tables = tx.scoped(before.tenant_id)
    end(tx, tables, before)
    job = tables.jobs.add(
        Job(
            id=new_id("job"),
            tenant_id=before.tenant_id,
            application_id=before.application_id,
            version_id=version_id,
            limits=before.limits,
            tolerance=before.tolerance,
        )
    )
    data = {"application_id": job.application_id, "state": job.state}
    tx.events.append("job.preparing", job.id, data, job.tenant_id)
    return job


def end(tx: Transaction, tables: Tables, job: Job) -> None:
    """Stop a job for good, where it has not ended; what waits of it is cancelled."""
    if job.state not in ENDED_JOBS:
        set_state(tx, job, JobState.STOPPED, "job.stopped")
    cancel_waiting(tx, tables, job.id)


def current(tables: Tables, application_id: str) -> Job | None:
    """Return the newest job of an application."""
    return tables.jobs.newest(application_id=application_id)


def newest_by_application(tables: Tables, application_ids: list[str]) -> dict[str, Job]:
    """Return the newest job of each of these applications that has one."""
    found = tables.jobs.list(application_id=application_ids, limit=None)
    return {job.application_id: job for job in found}  # in order of id: the newest comes last


def show(tx: Transaction, job: Job) -> JobAnswer:
    """Return the resource of a job."""
    return show_all(tx, [job])[0]


def show_all(tx: Transaction, jobs: list[Job]) -> list[JobAnswer]:
    """Return the resources of jobs of one tenant, in their order."""
    if not jobs:
        return []
    summary = summaries.load(tx.scoped(jobs[0].tenant_id), [job.id for job in jobs])
    reasons = waiting.reasons(tx, jobs)
    return [show_summary(job, summary[job.id], reasons.get(job.id)) for job in jobs]


def show_summary(job: Job, summary: Summary, waits: Waiting | None) -> JobAnswer:
    """Return the resource of a job whose summary, and what it waits for, were read."""
    improvements = [result for result in summary.results if result.is_better]
    return JobAnswer(
        id=job.id,
        application_id=job.application_id,
        version_id=job.version_id,
        state=job.state,
        waiting_reason=waits.text if waits else "",
        best_quality=job.best_quality,
        expected_improvement=job.expected_improvement,
        expected_improvement_error=job.expected_improvement_error,
        cost=job.cost,
        tasks_done=len(summary.results),
        tasks_failed=len(summary.in_state(TaskState.FAILED)),
        tasks_under_way=len(summary.in_state(TaskState.WAITING))
        + len(summary.in_state(TaskState.RUNNING)),
        settled=job.settled,
        candidates=summary.candidates,
        improvements=[_improvement(result, summary.names) for result in improvements],
        limits=job.limits.to_json(),
        tolerance=job.tolerance,
        error=job.error,
        created=job.created,
    )


def _improvement(result: Result, names: dict[str, str]) -> Improvement:
    task = result.task
    return Improvement(
        task_id=task.id,
        name=names[task.candidate_id],
        quality=result.quality,
        measure=measures.kept(task.measure),
        cost=result.spent,
        finished=task.finished or task.created,
    )
