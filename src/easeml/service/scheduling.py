"""The scheduler as anybody may see it: devices, queue, tenants and losses of all, other tenants by
number.
"""

from collections import Counter, defaultdict

from easeml.contract.scheduling import Device, DeviceTask, LossCurve, SchedulerView, Share, Waiting
from easeml.service import tasks
from easeml.service.anonymity import Eyes
from easeml.service.caller import Caller
from easeml.service.losses import Result, loss_curve
from easeml.store import Rooms, Store, Transaction
from easeml.store.records import Attempt, Job, Process, Task

SEARCHED = ("running", "resting", "paused")
_MOST_RUNS = 400  # of a timeline: the newest
_SHOWN_OF_QUEUE = 50
_STATES = {
    "running": "searching",
    "preparing": "searching",
    "resting": "resting",
    "paused": "paused",
}  # first counts


def view(store: Store, caller: Caller, policy: str, span: float) -> SchedulerView:
    """Return the scheduler now and during the last ``span`` seconds; ``policy`` is the one it runs."""
    with store.read() as tx:
        eyes, now = Eyes.of(tx, caller), tx.now()
        since = now - span
        devices, timeline = _timeline(tx, eyes, since)
        rooms = tx.unscoped()
        waiting = rooms.tasks.list(state="waiting", limit=_SHOWN_OF_QUEUE)
        return SchedulerView(
            policy=policy,
            now=now,
            since=since,
            devices=devices,
            timeline=timeline,
            queue=_queue(rooms, eyes, waiting),
            queued=rooms.tasks.count(state="waiting"),
            tenants=_shares(rooms, eyes),
            losses=_losses(rooms, since, now),
            decisions=rooms.decisions.count(),
        )


def _timeline(tx: Transaction, eyes: Eyes, since: float) -> tuple[list[Device], list[DeviceTask]]:
    """Return the workers that are there or worked since then, oldest first, and what they did."""
    rooms = tx.unscoped()
    attempts = rooms.attempts.list(newest_first=True, limit=_MOST_RUNS)
    attempts = [attempt for attempt in attempts[::-1] if (attempt.finished or tx.now()) >= since]
    used = {attempt.process_id for attempt in attempts}
    workers = [
        p
        for p in tx.processes.list(kind="worker", limit=None)
        if p.state == "running" or p.id in used
    ]
    found = {
        task.id: task for task in rooms.tasks.list(id=[a.task_id for a in attempts], limit=None)
    }
    names = tasks.names(rooms, [task for task in found.values() if eyes.sees(task.tenant_id)])
    place = {worker.id: number for number, worker in enumerate(workers)}
    timeline = [
        _run(
            attempt,
            found[attempt.task_id],
            place[attempt.process_id],
            eyes,
            names.get(attempt.task_id, ""),
        )
        for attempt in attempts
        if attempt.process_id in place
    ]
    return [_device(worker, number) for number, worker in enumerate(workers, 1)], timeline


def _device(worker: Process, number: int) -> Device:
    return Device(name=str(number), here=worker.state == "running")


def _run(attempt: Attempt, task: Task, device: int, eyes: Eyes, name: str) -> DeviceTask:
    return DeviceTask(
        device=device,
        lane=task.lane,
        tenant=eyes.name(task.tenant_id),
        own=eyes.is_own(task.tenant_id),
        task_id=task.id if eyes.is_own(task.tenant_id) else "",
        name=name,
        state=attempt.state,
        started=attempt.started,
        finished=attempt.finished,
    )


def _queue(rooms: Rooms, eyes: Eyes, waiting: list[Task]) -> list[Waiting]:
    names = tasks.names(rooms, [task for task in waiting if eyes.sees(task.tenant_id)])
    return [
        Waiting(
            lane=task.lane,
            tenant=eyes.name(task.tenant_id),
            own=eyes.is_own(task.tenant_id),
            task_id=task.id if eyes.is_own(task.tenant_id) else "",
            name=names.get(task.id, ""),
            since=task.created,
        )
        for task in waiting
    ]


def _shares(rooms: Rooms, eyes: Eyes) -> list[Share]:
    """Return the tenants that have searches, those that may gain most a device second first."""
    jobs: defaultdict[str, list[Job]] = defaultdict(list)
    for job in rooms.jobs.list(limit=None):
        jobs[job.tenant_id].append(job)
    running = Counter(tenant for (tenant,) in rooms.tasks.pick("tenant_id", state="running"))
    waiting = Counter(tenant for (tenant,) in rooms.tasks.pick("tenant_id", state="waiting"))
    shares = [
        _share(eyes, tenant, own, running[tenant], waiting[tenant]) for tenant, own in jobs.items()
    ]
    return sorted(shares, key=lambda share: -share.gain_rate)


def _share(eyes: Eyes, tenant_id: str, jobs: list[Job], running: int, waiting: int) -> Share:
    states = {job.state for job in jobs}
    searching = [job for job in jobs if job.state == "running"]
    return Share(
        tenant=eyes.name(tenant_id),
        own=eyes.is_own(tenant_id),
        state=next((shown for state, shown in _STATES.items() if state in states), "idle"),
        searches=len(jobs),
        gain_rate=max((job.gain_rate or 0.0 for job in searching), default=0.0),
        expected_improvement=sum(
            job.expected_improvement or 0.0 for job in jobs if job.state in SEARCHED
        ),
        running=running,
        waiting=waiting,
        cost=sum(job.cost for job in jobs),
    )


def _losses(rooms: Rooms, since: float, now: float) -> LossCurve:
    """Return the losses since then of the searches that are not over."""
    ids = [id for (id,) in rooms.jobs.pick("id", state=SEARCHED)]
    found = (
        rooms.tasks.pick("finished", "job_id", "quality", job_id=ids, kind="train", state="done")
        if ids
        else []
    )
    return loss_curve([Result(at, job, quality) for at, job, quality in found], since, now)
