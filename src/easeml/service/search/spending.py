"""What a search has spent, and the end of what runs when that reaches the search's limits."""

from easeml.contract.states import ENDED_TASKS, TASKS_UNDER_WAY, TaskGroup, TaskState
from easeml.store import Tables, Transaction
from easeml.store.records import Job, Task


def spent_seconds(tables: Tables, job_id: str) -> float:
    """Return the device seconds of the training tasks of a job that have ended, in whatever way."""
    ended = tables.tasks.pick("cost", job_id=job_id, kind=TaskGroup.TRAIN, state=ENDED_TASKS)
    return sum(cost for (cost,) in ended)


def stop_what_reached_its_limit(tx: Transaction) -> list[Task]:
    """Cancel the training tasks of jobs whose seconds or deadline are used up; return them.

    The seconds that running tasks have had so far count, so a limit is exceeded by no more than the
    time between two calls, on each device.
    """
    running = tx.unscoped().tasks.list(kind=TaskGroup.TRAIN, state=TaskState.RUNNING, limit=None)
    stopped: list[Task] = []
    for job_id in sorted({task.job_id for task in running}):
        job = tx.unscoped().jobs.get(job_id)
        reason = _limit_reached(tx, job, [task for task in running if task.job_id == job_id])
        if reason:
            stopped += _stop(tx, job, reason)
    return stopped


def _limit_reached(tx: Transaction, job: Job, running: list[Task]) -> str:
    """Return which limit a job has reached, in a sentence; nothing where it has reached none."""
    limits = job.limits
    if limits.deadline is not None and tx.now() >= limits.deadline:
        return "The search's deadline passed while this ran."
    most = limits.seconds
    if most is None:
        return ""
    tables = tx.scoped(job.tenant_id)
    so_far = sum(max(0.0, tx.now() - (task.started or tx.now())) for task in running)
    if spent_seconds(tables, job.id) + so_far < most:
        return ""
    return f"The search's limit of {most:g} device seconds was reached while this ran."


def _stop(tx: Transaction, job: Job, reason: str) -> list[Task]:
    tables = tx.scoped(job.tenant_id)
    under_way = tables.tasks.list(
        job_id=job.id, kind=TaskGroup.TRAIN, state=TASKS_UNDER_WAY, limit=None
    )
    for task in under_way:
        tx.queue.cancel(task.id, reason)
        data = {"job_id": job.id, "error": reason}
        tx.events.append("task.cancelled", task.id, data, job.tenant_id)
    return under_way
