"""What a search has spent, and the end of what runs when that reaches a limit.

The limit is the search's own, or the month's of its tenant.
"""

from easeml.contract.states import ENDED_TASKS, TASKS_UNDER_WAY, TaskGroup, TaskState
from easeml.service.limits import used
from easeml.store import Tables, Transaction, grouped
from easeml.store.records import Job, Task
from easeml.store.shapes import or_endless


def spent_seconds(tables: Tables, job_id: str) -> float:
    """Return the device seconds of the training tasks of a job that have ended, in whatever way."""
    ended = tables.tasks.column("cost", job_id=job_id, kind=TaskGroup.TRAIN, state=ENDED_TASKS)
    return sum(ended)


def stop_what_reached_its_limit(tx: Transaction) -> list[Task]:
    """Cancel the training tasks of jobs and tenants that have reached a limit; return them.

    A job has its seconds and its deadline, a tenant the device seconds of a month.

    The seconds that running tasks have had so far count, so a limit is exceeded by no more than the
    time between two calls, on each device.
    """
    under_way = tx.unscoped().tasks.list(kind=TaskGroup.TRAIN, state=TASKS_UNDER_WAY, limit=None)
    by_job = grouped(under_way, lambda task: task.job_id)
    reasons = _months_reached(tx, under_way)
    stopped: list[Task] = []
    for job_id, tasks in sorted(by_job.items()):
        job = tx.unscoped().jobs.get(job_id)
        reason = reasons.get(job.tenant_id) or _limit_reached(tx, job, _running(tasks))
        if reason:
            _stop(tx, tasks, reason)
            stopped += tasks
    return stopped


def _running(tasks: list[Task]) -> list[Task]:
    return [task for task in tasks if task.state == TaskState.RUNNING]


def _months_reached(tx: Transaction, under_way: list[Task]) -> dict[str, str]:
    """Return the tenants that have used up their month, by id, and why in a sentence."""
    by_tenant = grouped(under_way, lambda task: task.tenant_id)
    limits = dict(tx.tenants.pick("id", "limits", id=[*by_tenant]))
    most = {id: own.month_seconds for id, own in limits.items() if own.month_seconds is not None}
    spent = used.month_seconds(tx, most)
    found = {}
    for id, limit in most.items():
        if spent[id] + _seconds_so_far(tx, by_tenant[id]) >= limit:
            quota = used.counted(limit, "device second")
            found[id] = f"The month's quota of {quota} was reached."
    return found


def _seconds_so_far(tx: Transaction, tasks: list[Task]) -> float:
    """Return the seconds that the running ones of tasks have had a device."""
    seconds = 0.0
    for task in _running(tasks):
        began = task.started or tx.now()
        seconds += max(0.0, tx.now() - began)
    return seconds


def _limit_reached(tx: Transaction, job: Job, running: list[Task]) -> str:
    """Return which limit a job has reached, in a sentence; nothing where it has reached none."""
    if not running:
        return ""
    if tx.now() >= or_endless(job.limits.deadline):
        return "The search's deadline passed while this ran."
    most = job.limits.seconds
    if most is None:
        return ""
    spent = spent_seconds(tx.scoped(job.tenant_id), job.id) + _seconds_so_far(tx, running)
    if spent < most:
        return ""
    return f"The search's limit of {most:g} device seconds was reached while this ran."


def _stop(tx: Transaction, tasks: list[Task], reason: str) -> None:
    for task in tasks:
        tx.queue.cancel(task.id, reason)
        data = {"job_id": task.job_id, "error": reason}
        tx.events.append("task.cancelled", task.id, data, task.tenant_id)
