"""When a search is expected to end: from its limits, the believed costs, and its pace of late."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from easeml.contract.ending import Ending
from easeml.contract.jobs import Job
from easeml.contract.states import (
    FINISHED_TASKS,
    TASKS_UNDER_WAY,
    JobState,
    ProcessKind,
    ProcessState,
    TaskGroup,
    TaskState,
)
from easeml.search import is_little_left
from easeml.search.ending import FEWEST, Outlook, Run, Span, remaining_time
from easeml.service.access.caller import Caller
from easeml.service.search import jobs, summaries
from easeml.service.search.summaries import TrainingTask
from easeml.store import Store, Tables, Transaction, records
from easeml.store.shapes import JobLimits

_NEWEST_RUNS = 20  # whose pace is that of late
_OVERDUE = 0.25  # of what a run has taken, that it takes at least from now on
_LONGEST_IDLE = 300.0  # seconds without a run under way, beyond which a search was held
_NEWEST_SEARCHES = 100  # that others are expected to be like
_NOT_RUNNING = {
    JobState.PREPARING: "Not known: its data is being prepared.",
    JobState.RESTING: "It has come to its end, and rests.",
    JobState.PAUSED: "Not known: it is paused.",
    JobState.STOPPED: "It has ended.",
    JobState.FAILED: "It has ended.",
}
_NOT_KNOWN = (
    "Not known: it has no limit, and too few searches have come to rest here. "
    "It rests when little is left to gain."
)


def get(store: Store, caller: Caller, job_id: str) -> Ending:
    """Return when a search is expected to end; raises ``NotFound``."""
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        job = jobs.show(tx, tables.jobs.get(job_id))
        return of_job(tx, tables, job, summaries.training_tasks(tables, [job.id]))


def of_job(tx: Transaction, tables: Tables, job: Job, tasks: Sequence[TrainingTask]) -> Ending:
    """Return when a search is expected to end, as far as anything tells.

    ``job``: its resource; ``tasks``: all that it trained or is about to.
    """
    if job.state != JobState.RUNNING:
        return Ending(job_id=job.id, text=_NOT_RUNNING[JobState(job.state)])
    outlook = _outlook(tx, tables, job, tasks)
    span = remaining_time(outlook)
    if span is None:
        return Ending(job_id=job.id, text=_NOT_KNOWN)
    now = tx.now()
    return Ending(
        job_id=job.id,
        low=now + span.low,
        expected=now + span.middle,
        high=now + span.high,
        limited_by=_limited_by(outlook),
        text=_sentence(span, outlook),
    )


def _outlook(tx: Transaction, tables: Tables, job: Job, tasks: Sequence[TrainingTask]) -> Outlook:
    now = tx.now()
    limits = JobLimits.from_json(job.limits)
    believed = dict(tables.candidates.pick("id", "predicted_cost", job_id=job.id))
    trained = [task for task in tasks if task.state in FINISHED_TASKS]
    under_way = [task for task in tasks if task.state in TASKS_UNDER_WAY]
    runs = _runs(trained, believed)[-_NEWEST_RUNS:]
    is_new = len(runs) < FEWEST
    others = [] if job.limits and not is_new else _others(tx)
    return Outlook(
        runs=runs,
        costs=_costs_of_untried(believed, [*trained, *under_way]),
        under_way=[_left(task, believed, now) for task in under_way],
        tasks_left=_tasks_left(limits, trained, under_way),
        seconds_left=_seconds_left(limits, job, under_way, now),
        deadline_in=None if limits.deadline is None else limits.deadline - now,
        before=[] if job.limits else _needed_before(tx, others, len(trained)),
        share=_share(tx, others) if is_new else 1.0,
    )


def _costs_of_untried(believed: Mapping[str, float], tried: Sequence[TrainingTask]) -> list[float]:
    done = {task.candidate_id for task in tried}
    return [cost for candidate, cost in believed.items() if candidate not in done]


def _tasks_left(
    limits: JobLimits, trained: Sequence[TrainingTask], under_way: Sequence[TrainingTask]
) -> int | None:
    """Return how many runs may still begin; those whose result was kept from before are free."""
    if limits.tasks is None:
        return None
    kept = sum(task.is_kept for task in trained)
    begun = len(trained) + len(under_way) - kept
    return max(0, limits.tasks - begun)


def _seconds_left(
    limits: JobLimits, job: Job, under_way: Sequence[TrainingTask], now: float
) -> float | None:
    if limits.seconds is None:
        return None
    return limits.seconds - _spent(job, under_way, now)


def _runs(trained: Sequence[TrainingTask], believed: Mapping[str, float]) -> list[Run]:
    """Return the runs of a search in the order in which they ended; the first has no pace.

    A run after a pause has none either.
    """
    ended = sorted((task for task in trained if task.cost), key=_end)
    runs = []
    for before, task in pairwise(ended):
        wall = _end(task) - _end(before)
        idle = task.created - _end(before)
        if idle < _LONGEST_IDLE:
            runs.append(Run(wall, task.cost, believed.get(task.candidate_id, 0.0)))
    return runs


def _end(task: TrainingTask) -> float:
    return task.finished or 0.0


def _spent(job: Job, under_way: Sequence[TrainingTask], now: float) -> float:
    """Return the device seconds of a search, with those of runs that have not ended."""
    running = [now - task.started for task in under_way if task.started is not None]
    return job.cost + sum(running)


def _left(task: TrainingTask, believed: Mapping[str, float], now: float) -> float:
    """Return the device seconds that a task under way is believed to take from now on.

    One that is overdue goes on for a while, too.
    """
    cost = believed.get(task.candidate_id, 0.0)
    if task.state != TaskState.RUNNING or task.started is None:
        return cost
    elapsed = now - task.started
    return max(cost - elapsed, _OVERDUE * elapsed)


def _others(tx: Transaction) -> list[records.Job]:
    """Return the newest searches that run or rest, of all tenants: how they go, and nothing else."""
    states = [JobState.RUNNING, JobState.RESTING]
    return tx.unscoped().jobs.list(state=states, limit=_NEWEST_SEARCHES, newest_first=True)


def _needed_before(tx: Transaction, others: Sequence[records.Job], done: int) -> list[int]:
    """Return how many runs other searches needed from here until they rested by themselves."""
    resting = {one.id: one for one in others if one.state == JobState.RESTING}
    if not resting:
        return []
    runs = tx.unscoped().tasks.count_by(
        "job_id", job_id=list(resting), kind=TaskGroup.TRAIN, state=FINISHED_TASKS
    )
    by_itself = [count for id, count in runs.items() if _rests_by_itself(resting[id], count)]
    return [count - done for count in by_itself if count > done]


def _rests_by_itself(job: records.Job, runs: int) -> bool:
    """Tell whether a search rests after so many runs because little is left to gain."""
    if job.expected_improvement is None:
        return False
    return is_little_left(job.expected_improvement, runs, job.tolerance)


def _share(tx: Transaction, others: Sequence[records.Job]) -> float:
    """Return the devices that a search has on average now."""
    workers = tx.processes.count(kind=ProcessKind.WORKER, state=ProcessState.RUNNING)
    searches = [one for one in others if one.state == JobState.RUNNING]
    return max(workers, 1) / max(len(searches), 1)


def _limited_by(outlook: Outlook) -> str:
    limits = {
        "tasks": outlook.tasks_left,
        "seconds": outlook.seconds_left,
        "deadline": outlook.deadline_in,
    }
    return ", ".join(name for name, left in limits.items() if left is not None)


def _sentence(span: Span, outlook: Outlook) -> str:
    low, high = _told(span.low), _told(span.high)
    when = f"in about {high}" if low == high else f"in {low} to {high}"
    is_limited = bool(_limited_by(outlook))
    why = "as searches before, which had no limit"
    if is_limited:
        why = "by its limits, or earlier if little is left to gain"
    return f"Expected {when} (nine of ten), {why}."


def _told(seconds: float) -> str:
    """Return a time as people say it: 20 s, 3 min, 2.5 h."""
    for unit, size, most in (("s", 1.0, 90.0), ("min", 60.0, 90.0), ("h", 3600.0, 48.0)):
        if seconds < size * most:
            return f"{seconds / size:.2g} {unit}"
    return f"{seconds / 86_400:.2g} days"
