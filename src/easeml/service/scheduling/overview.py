"""The scheduler as anybody may see it: devices, queue, tenants and losses.

Other tenants are shown by number.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Annotated

from pydantic import Field

from easeml.contract.scheduling import Device, DeviceTask, LossCurve, SchedulerView, Share, Waiting
from easeml.contract.states import (
    SEARCHED_JOBS,
    JobState,
    ProcessKind,
    ProcessState,
    TaskGroup,
    TaskState,
)
from easeml.service.access.caller import Caller
from easeml.service.access.tenant_view import TenantView
from easeml.service.administration import kept_settings
from easeml.service.scheduling.losses import Result, loss_curve
from easeml.service.scheduling.timelines import device_task, was_running
from easeml.service.search import waiting as waiting_for
from easeml.service.tasks import needs, task_views
from easeml.settings import Settings
from easeml.store import Store, Tables, Transaction, grouped
from easeml.store.records import Job, Process, Task

Seconds = Annotated[float, Field(ge=10, le=31 * 86400, description="how far to look back")]

_MOST_RUNS = 400  # of a timeline: the newest
_SHOWN_OF_QUEUE = 50
_STATES = {
    JobState.RUNNING: "searching",
    JobState.PREPARING: "searching",
    JobState.RESTING: "resting",
    JobState.PAUSED: "paused",
}  # first counts


def show(
    store: Store, settings: Settings, caller: Caller, *, span: Seconds = 600.0
) -> SchedulerView:
    """Return devices, queue, tenants and losses, now and during the last ``span`` seconds.

    Users who are not providers see other tenants by number.
    """
    with store.read() as tx:
        view = TenantView.of(tx, caller)
        now = tx.now()
        since = now - span
        devices, timeline = _timeline(tx, view, since)
        tables = tx.unscoped()
        waiting = tables.tasks.list(state=TaskState.WAITING, limit=_SHOWN_OF_QUEUE)
        return SchedulerView(
            policy=kept_settings.kept(tx, settings).get("policy", settings.policy),
            now=now,
            since=since,
            devices=devices,
            timeline=timeline,
            queue=_queue(tx, view, waiting),
            queued=tables.tasks.count(state=TaskState.WAITING),
            tenants=_shares(tx, view),
            losses=_losses(tables, since, now),
            decisions=tables.decisions.count(),
        )


def _timeline(
    tx: Transaction, view: TenantView, since: float
) -> tuple[list[Device], list[DeviceTask]]:
    """Return the workers that are there or worked since then, oldest first, and what they did."""
    tables = tx.unscoped()
    newest = tables.attempts.list(newest_first=True, limit=_MOST_RUNS)
    attempts = [attempt for attempt in reversed(newest) if was_running(attempt, since)]
    workers = _workers(tx, {attempt.process_id for attempt in attempts})
    devices: list[Device] = []
    place: dict[str, int] = {}
    for worker in workers:
        place[worker.id] = len(devices)
        devices.append(_device(worker, len(devices) + 1))

    tasks = tables.tasks.by_id(id=[attempt.task_id for attempt in attempts])
    names = _names_seen(tables, view, tasks.values())
    timeline = []
    for attempt in attempts:
        if attempt.process_id in place:
            task = tasks[attempt.task_id]
            device = place[attempt.process_id]
            name = names.get(task.id, "")
            timeline.append(device_task(attempt, task, device, view, name))
    return devices, timeline


def _workers(tx: Transaction, used: Collection[str]) -> list[Process]:
    """Return the workers that run, and those that were used (ids)."""
    running = ProcessState.RUNNING
    known = tx.processes.list(kind=ProcessKind.WORKER, limit=None)
    return [one for one in known if one.state == running or one.id in used]


def _names_seen(tables: Tables, view: TenantView, tasks: Iterable[Task]) -> dict[str, str]:
    """Return the names of the tasks that the viewer may see, by id."""
    return task_views.names(tables, [task for task in tasks if view.sees(task.tenant_id)])


def _device(worker: Process, number: int) -> Device:
    here = worker.state == ProcessState.RUNNING
    return Device(name=str(number), here=here, kind=worker.device)


def _queue(tx: Transaction, view: TenantView, waiting: list[Task]) -> list[Waiting]:
    names = _names_seen(tx.unscoped(), view, waiting)
    seen = {task.id: task.needs for task in waiting if view.sees(task.tenant_id)}
    reasons = needs.fitting_nowhere(tx, seen)
    queue = []
    for task in waiting:
        is_own = view.is_own(task.tenant_id)
        shown = Waiting(
            lane=task.lane,
            tenant=view.name(task.tenant_id),
            own=is_own,
            task_id=task.id if is_own else "",
            name=names.get(task.id, ""),
            since=task.created,
            waits=reasons.get(task.id, ""),
        )
        queue.append(shown)
    return queue


def _shares(tx: Transaction, view: TenantView) -> list[Share]:
    """Return the tenants that have searches, those that may gain most a device second first."""
    tables = tx.unscoped()
    all_jobs = tables.jobs.list(limit=None)
    by_tenant = grouped(all_jobs, lambda job: job.tenant_id)
    running = tables.tasks.count_by("tenant_id", state=TaskState.RUNNING)
    waiting = tables.tasks.count_by("tenant_id", state=TaskState.WAITING)
    reasons = _waiting_reasons(tx, view, all_jobs)
    shares = []
    for tenant, jobs in by_tenant.items():
        reason = "" if running[tenant] else reasons.get(tenant, "")
        shares.append(_share(view, tenant, jobs, running[tenant], waiting[tenant], reason))
    return sorted(shares, key=lambda share: -share.gain_rate)


def _waiting_reasons(tx: Transaction, view: TenantView, jobs: Sequence[Job]) -> dict[str, str]:
    """Return what the oldest search that should run waits for, by tenant that the viewer may see."""
    oldest: dict[str, Job] = {}
    for job in jobs:
        if job.state in (JobState.PREPARING, JobState.RUNNING):
            oldest.setdefault(job.tenant_id, job)
    seen = [job for tenant, job in oldest.items() if view.sees(tenant)]
    found = waiting_for.reasons(tx, seen)
    return {job.tenant_id: found[job.id].text for job in seen if job.id in found}


def _share(
    view: TenantView, tenant_id: str, jobs: list[Job], running: int, waiting: int, reason: str
) -> Share:
    rates = [job.gain_rate or 0.0 for job in jobs if job.state == JobState.RUNNING]
    searched = [job for job in jobs if job.state in SEARCHED_JOBS]
    return Share(
        tenant=view.name(tenant_id),
        place=view.place(tenant_id),
        own=view.is_own(tenant_id),
        state=_state_shown(jobs),
        waiting_reason=reason,
        searches=len(jobs),
        gain_rate=max(rates, default=0.0),
        expected_improvement=sum(job.expected_improvement or 0.0 for job in searched),
        running=running,
        waiting=waiting,
        cost=sum(job.cost for job in jobs),
    )


def _state_shown(jobs: Sequence[Job]) -> str:
    """Return the word for what a tenant's searches do, taken together."""
    states = {job.state for job in jobs}
    return next((shown for state, shown in _STATES.items() if state in states), "idle")


def _losses(tables: Tables, since: float, now: float) -> LossCurve:
    """Return the losses since then of the searches that are not over."""
    ids = tables.jobs.column("id", state=SEARCHED_JOBS)
    found = tables.tasks.pick(
        "finished", "job_id", "quality", job_id=ids, kind=TaskGroup.TRAIN, state=TaskState.DONE
    )
    return loss_curve(map(Result._make, found), since, now)
