"""Jobs: watching and steering a model search."""

from datetime import datetime

from easeml.contract import resources
from easeml.errors import Conflict, InvalidInput
from easeml.service.access.caller import Caller
from easeml.service.access.paging import page_of
from easeml.service.search import progress
from easeml.service.tasks import task_views
from easeml.store import Store, Tables, Transaction
from easeml.store.records import Job, Json

# action -> (states it may start from, state it ends in, event)
_ACTIONS = {
    "pause": (("running", "resting"), "paused", "job.paused"),
    "resume": (("paused", "resting"), "running", "job.resumed"),
    "stop": (("preparing", "running", "resting", "paused"), "stopped", "job.stopped"),
}


def get(store: Store, caller: Caller, job_id: str) -> resources.Job:
    """Return a job with its counts; raises ``NotFound``."""
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        return show(tables, tables.jobs.get(job_id))


def list_page(
    store: Store,
    caller: Caller,
    *,
    after: str | None = None,
    limit: int = 50,
    application_id: str | None = None,
) -> resources.Page[resources.Job]:
    """Return a page of the tenant's jobs, oldest first."""
    equals = {} if application_id is None else {"application_id": application_id}
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        return page_of(tables.jobs, lambda job: show(tables, job), after, limit, **equals)


def change(store: Store, caller: Caller, job_id: str, action: str) -> resources.Job:
    """Pause, resume or stop a job; doing so again changes nothing. What runs may finish, what waits
    is cancelled.

    Raises ``InvalidInput`` for another action, ``Conflict`` when the job's state does not allow it.
    """
    if action not in _ACTIONS:
        raise InvalidInput(f"A job can {', '.join(_ACTIONS)}, not {action}.", where="action")
    allowed, target, event = _ACTIONS[action]
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        job = tables.jobs.get(job_id)
        if job.state != target:
            if job.state not in allowed:
                remedy = f"A job can {action} when it is {' or '.join(allowed)}."
                raise Conflict(f"The job is {job.state}.", remedy=remedy, where=job_id)
            job = set_state(tx, job, target, event)
            if target != "running":
                cancel_waiting(tx, tables, job_id)
        return show(tables, job)


def set_limits(
    store: Store, caller: Caller, job_id: str, wish: resources.JobLimits
) -> resources.Job:
    """Change what a job may use in all; a job that rests because of its limits goes on if they were
    raised.

    Raises ``NotFound``, ``Conflict`` for a job that has ended.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        job = tables.jobs.get(job_id)
        if job.state in ("stopped", "failed"):
            raise Conflict(
                f"The job is {job.state}.", remedy="Declare the application again.", where=job_id
            )
        job = tables.jobs.update(
            job_id, limits=limits(wish.max_tasks, wish.max_seconds, wish.deadline)
        )
        data = {"application_id": job.application_id, "state": job.state, "limits": job.limits}
        tx.events.append("job.limited", job_id, data, job.tenant_id)
        return show(tables, job)


def limits(max_tasks: int | None, max_seconds: float | None, deadline: datetime | None) -> Json:
    """Return a job's limits as they are kept: only those that there are."""
    found = {
        "tasks": max_tasks,
        "seconds": max_seconds,
        "deadline": deadline.timestamp() if deadline else None,
    }
    return {name: value for name, value in found.items() if value is not None}


def set_state(tx: Transaction, job: Job, state: str, event: str, **changes: object) -> Job:
    """Move a job from the state it was read in to ``state`` and say so; raises ``Conflict`` if it
    moved meanwhile.
    """
    job = tx.scoped(job.tenant_id).jobs.update(
        job.id, where={"state": job.state}, state=state, **changes
    )
    data = {"application_id": job.application_id, "state": state}
    tx.events.append(event, job.id, data, job.tenant_id)
    return job


def cancel_waiting(tx: Transaction, tables: Tables, job_id: str) -> None:
    """Cancel the training tasks of a job that wait for a device."""
    for task in tables.tasks.list(job_id=job_id, kind="train", state="waiting", limit=None):
        tx.queue.cancel(task.id)


def current(tables: Tables, application_id: str) -> Job | None:
    """Return the newest job of an application."""
    return next(
        iter(tables.jobs.list(application_id=application_id, limit=1, newest_first=True)), None
    )


def show(tables: Tables, job: Job) -> resources.Job:
    """Return the resource of a job."""
    found = progress.results(tables, job.id)
    return resources.Job(
        id=job.id,
        application_id=job.application_id,
        version_id=job.version_id,
        state=job.state,
        best_quality=job.best_quality,
        expected_improvement=job.expected_improvement,
        expected_improvement_error=job.expected_improvement_error,
        cost=job.cost,
        tasks_done=len(found),
        tasks_failed=tables.tasks.count(job_id=job.id, kind="train", state="failed"),
        tasks_under_way=tables.tasks.count(
            job_id=job.id, kind="train", state=["waiting", "running"]
        ),
        candidates=tables.candidates.count(job_id=job.id),
        improvements=_improvements(tables, found),
        limits=job.limits,
        tolerance=job.tolerance,
        error=job.error,
        created=job.created,
    )


def _improvements(tables: Tables, found: list[progress.Result]) -> list[resources.Improvement]:
    """Return the tasks that raised the best quality of their job, in the order in which they ended."""
    better = [result for result in found if result.is_better]
    known = {
        task.id: task
        for task in tables.tasks.list(id=[result.task_id for result in better], limit=None)
    }
    name = task_views.names(tables, list(known.values()))
    return [
        resources.Improvement(
            task_id=one.task_id,
            name=name[one.task_id],
            quality=one.quality,
            cost=one.spent,
            finished=known[one.task_id].finished or known[one.task_id].created,
        )
        for one in better
    ]
