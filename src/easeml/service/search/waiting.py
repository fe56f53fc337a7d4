"""Why nothing of a search runs: the one place that knows, for pages, commands and notices."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from easeml.contract.states import (
    ENDED_JOBS,
    FINISHED_TASKS,
    SEARCHED_JOBS,
    TASKS_UNDER_WAY,
    JobState,
    ProcessKind,
    ProcessState,
    TaskGroup,
    TaskState,
)
from easeml.search.state import LEAST_COST
from easeml.service.events.telling import tell_providers
from easeml.service.knowledge import gpus
from easeml.service.limits import used
from easeml.service.tasks import needs
from easeml.store import Tables, Transaction
from easeml.store.records import Job
from easeml.store.shapes import TenantLimits, or_endless

EVENT = "job.waiting"
STARVING = "provider.starving"
_COUNTED = (*TASKS_UNDER_WAY, *FINISHED_TASKS)  # tasks that use up a limit
_SILENCE = 30.0  # seconds without a heartbeat, after which a process counts as gone
_START = "The provider starts one with: easeml up"
_RAISE = "The provider can raise it."


class WaitsFor(StrEnum):
    """What a search waits for."""

    DATA = "data"
    OWNER = "owner"
    WORKER = "worker"
    SCHEDULER = "scheduler"
    QUOTA = "quota"
    QUOTA_IN_USE = "quota-in-use"
    GPU = "gpu"
    ROOM = "room"
    LIMIT = "limit"
    DEADLINE = "deadline"
    GAIN = "gain"
    DEVICE = "device"
    DECISION = "decision"


# What does not pass by itself, and was not asked for: somebody has to be told.
_BLOCKED = (WaitsFor.WORKER, WaitsFor.QUOTA, WaitsFor.DEADLINE, WaitsFor.ROOM)
_MAY_BE_ROOM = (WaitsFor.DEVICE, WaitsFor.DATA)
_ROOM = "The provider can start a worker on a larger machine, or free some disk."
_MAY_BE_GPUS = (WaitsFor.GAIN, WaitsFor.DEVICE, WaitsFor.DECISION)


@dataclass(frozen=True, slots=True)
class Waiting:
    """What a search waits for, and a sentence that says so."""

    waits_for: WaitsFor
    text: str


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """What decides whether searches go on, read once for all of them."""

    now: float
    workers: int
    schedulers: int
    quotas: dict[str, TenantLimits]  # by tenant
    exhausted: dict[str, used.Exhausted]  # by tenant
    spent: Counter[str]  # device seconds of open searches, by tenant
    training: Counter[str]  # training tasks under way, by tenant
    running: Counter[str]  # tasks, by job
    queued: Counter[str]  # tasks, by job
    tasks: Counter[str]  # that count against a limit, by job that has one
    cheapest: dict[str, float]  # predicted seconds of a candidate left, by job with a deadline


def reasons(tx: Transaction, jobs: Sequence[Job]) -> dict[str, Waiting]:
    """Return what each job waits for, by id; those that run or have ended wait for nothing.

    A constant number of statements for any number of jobs, of any tenants.
    """
    waiting = [job for job in jobs if job.state not in ENDED_JOBS]
    if not waiting:
        return {}
    around = _surroundings(tx, waiting)
    found: dict[str, Waiting] = {}
    for job in waiting:
        reason = _reason(job, around)
        if reason is not None:
            found[job.id] = reason
    return found | _for_gpus(tx, found) | _for_room(tx, waiting, found)


def _for_gpus(tx: Transaction, found: dict[str, Waiting]) -> dict[str, Waiting]:
    """Return what else is true of searches that seem to have nothing left, or wait for a device."""
    asked = [job_id for job_id, one in found.items() if one.waits_for in _MAY_BE_GPUS]
    return {job_id: Waiting(WaitsFor.GPU, text) for job_id, text in gpus.left(tx, asked).items()}


def _for_room(
    tx: Transaction, jobs: Sequence[Job], found: dict[str, Waiting]
) -> dict[str, Waiting]:
    """Return the searches of which a task waits that fits no machine, or that of their data.

    Each has the reason.
    """
    asked = {_stuck_by(job) for job in jobs if _may_be_room(found.get(job.id))}
    stuck = needs.stuck(tx, subject=list(asked))
    stuck += needs.stuck(tx, job_id=list(asked))
    texts: dict[str, str] = {}
    for task in stuck:
        texts[task.subject] = task.text
        texts[task.job_id] = task.text
    reasons: dict[str, Waiting] = {}
    for job in jobs:
        text = texts.get(_stuck_by(job))
        if text and _may_be_room(found.get(job.id)):
            reasons[job.id] = Waiting(WaitsFor.ROOM, f"A task waits. {text} {_ROOM}")
    return reasons


def _stuck_by(job: Job) -> str:
    """Return by what tasks are found that a search cannot do without."""
    if job.state == JobState.PREPARING:
        return job.version_id
    return job.id


def _may_be_room(waiting: Waiting | None) -> bool:
    return waiting is not None and waiting.waits_for in _MAY_BE_ROOM


def blocked(tx: Transaction) -> dict[str, Waiting]:
    """Return the searches of all tenants that should run and cannot, until somebody acts."""
    jobs = tx.unscoped().jobs.list(state=[JobState.PREPARING, JobState.RUNNING], limit=None)
    found = reasons(tx, jobs)
    return {job_id: one for job_id, one in found.items() if one.waits_for in _BLOCKED}


def tell(tx: Transaction, job_id: str, waiting: Waiting) -> None:
    """Tell the owner of a job what it waits for, once until the job has trained again."""
    job = tx.unscoped().jobs.get(job_id)
    if _was_told(tx, job, waiting):
        return
    data = {
        "application_id": job.application_id,
        "waits_for": waiting.waits_for.value,
        "reason": waiting.text,
    }
    tx.events.append(EVENT, job.id, data, job.tenant_id)


def tell_of_starvation(tx: Transaction, tenant_id: str, seconds: float, decisions: int) -> None:
    """Tell the providers that a tenant with something to start was passed over for too long."""
    data = {
        "tenant": tx.tenants.get(tenant_id).name,
        "seconds": seconds,
        "decisions": decisions,
    }
    tell_providers(tx, STARVING, tenant_id, data)


def _was_told(tx: Transaction, job: Job, waiting: Waiting) -> bool:
    """Whether the newest event says the same, and no training task was made since."""
    told = tx.events.newest_about(job.id, job.tenant_id, [EVENT])
    if told is None or told.data["waits_for"] != waiting.waits_for:
        return False
    newest = tx.scoped(job.tenant_id).tasks.newest(job_id=job.id)
    return newest is None or newest.created <= told.created


def _surroundings(tx: Transaction, jobs: Sequence[Job]) -> _Surroundings:
    tables = tx.unscoped()
    processes = _processes_alive(tx)
    under_way = tables.tasks.pick(
        "tenant_id", "job_id", "state", kind=TaskGroup.TRAIN, state=TASKS_UNDER_WAY
    )
    training, running, queued = Counter[str](), Counter[str](), Counter[str]()
    for tenant_id, job_id, state in under_way:
        training[tenant_id] += 1
        running[job_id] += state == TaskState.RUNNING
        queued[job_id] += state == TaskState.WAITING
    tenants = sorted({job.tenant_id for job in jobs})
    quotas = dict(tx.tenants.pick("id", "limits", id=tenants))
    costs = tables.jobs.pick("tenant_id", "cost", state=SEARCHED_JOBS, tenant_id=tenants)
    return _Surroundings(
        now=tx.now(),
        workers=processes[ProcessKind.WORKER],
        schedulers=processes[ProcessKind.SCHEDULER],
        quotas=quotas,
        exhausted=used.exhausted(tx, quotas),
        spent=used.totals(costs),
        training=training,
        running=running,
        queued=queued,
        tasks=_counted_tasks(tables, jobs),
        cheapest=_cheapest_left(tables, jobs),
    )


def _processes_alive(tx: Transaction) -> Counter[str]:
    """Return how many processes of each kind had a heartbeat lately."""
    earliest = tx.now() - _SILENCE
    running = tx.processes.pick("kind", "heartbeat", state=ProcessState.RUNNING)
    return Counter(kind for kind, heartbeat in running if heartbeat >= earliest)


def _counted_tasks(tables: Tables, jobs: Sequence[Job]) -> Counter[str]:
    limited = [job.id for job in jobs if job.limits.tasks is not None]
    tasks = tables.tasks.pick(
        "job_id", "state", "attempts", job_id=limited, kind=TaskGroup.TRAIN, state=_COUNTED
    )
    # A task that is done and never ran is a result of the search before.
    return Counter(job for job, state, ran in tasks if ran or state != TaskState.DONE)


def _cheapest_left(tables: Tables, jobs: Sequence[Job]) -> dict[str, float]:
    """Return the predicted seconds of the cheapest untried candidate, by running job in a hurry."""
    running = [job for job in jobs if job.state == JobState.RUNNING]
    hurried = [job.id for job in running if job.limits.deadline is not None]
    tried = set(
        tables.tasks.column("candidate_id", job_id=hurried, kind=TaskGroup.TRAIN, state=_COUNTED)
    )
    candidates = tables.candidates.pick("id", "job_id", "predicted_cost", job_id=hurried)
    cheapest: dict[str, float] = {}
    for id, job_id, predicted in candidates:
        if id in tried:
            continue
        cost = max(predicted, LEAST_COST)
        cheapest[job_id] = min(cost, cheapest.get(job_id, cost))
    return cheapest


def _reason(job: Job, around: _Surroundings) -> Waiting | None:
    if around.running[job.id]:
        return None
    if job.state == JobState.PAUSED:
        return Waiting(WaitsFor.OWNER, "The search is paused until somebody resumes it.")
    if job.state == JobState.RESTING:
        return _limit(job, around) or _gain()
    return _missing_for_work(job, around)


def _missing_for_work(job: Job, around: _Surroundings) -> Waiting:
    """Return what a search that is not held by anybody lacks, the first that has to come first."""
    if not around.workers:
        return Waiting(WaitsFor.WORKER, f"No worker runs. {_START}")
    if job.state == JobState.PREPARING:
        return Waiting(WaitsFor.DATA, "The data is being prepared.")
    if around.queued[job.id]:
        return _device(around)
    return _quota(job, around) or _limit(job, around) or _decision(around)


def _quota(job: Job, around: _Surroundings) -> Waiting | None:
    """Return the quota of the tenant that holds a search up."""
    tenant = job.tenant_id
    if tenant in around.exhausted:
        return Waiting(WaitsFor.QUOTA, f"{around.exhausted[tenant].text} {_RAISE}")

    quota = around.quotas.get(tenant, TenantLimits())
    spent = around.spent[tenant]
    if spent >= or_endless(quota.seconds):
        most = used.counted(or_endless(quota.seconds), "device second")
        text = f"The quota of {most} is used up ({spent:.0f} s). {_RAISE}"
        return Waiting(WaitsFor.QUOTA, text)
    if quota.devices is not None:
        return _quota_of_devices(quota.devices, around.training[tenant])
    return None


def _quota_of_devices(most: int, in_use: int) -> Waiting | None:
    """Return what holds a search up whose tenant may use ``most`` devices at once."""
    if most == 0:
        return Waiting(WaitsFor.QUOTA, f"The quota allows no device. {_RAISE}")
    if in_use < most:
        return None
    quota = used.counted(most, "device")
    text = f"The quota of {quota} is in use by other searches of the tenant."
    return Waiting(WaitsFor.QUOTA_IN_USE, text)


def _limit(job: Job, around: _Surroundings) -> Waiting | None:
    """Return the limit of its own that a search has reached."""
    limits = job.limits
    tasks = or_endless(limits.tasks)
    seconds = or_endless(limits.seconds)
    deadline = or_endless(limits.deadline)
    if around.now >= deadline:
        return Waiting(WaitsFor.LIMIT, "The search's deadline has passed. Set a later one.")
    if job.cost >= seconds:
        most = used.counted(seconds, "device second")
        text = f"The search's limit of {most} is used up. Raise it to go on."
        return Waiting(WaitsFor.LIMIT, text)
    if around.tasks[job.id] >= tasks:
        most = used.counted(tasks, "task")
        text = f"The search's limit of {most} is used up. Raise it to go on."
        return Waiting(WaitsFor.LIMIT, text)
    if around.now + around.cheapest.get(job.id, 0.0) > deadline:
        text = "Each candidate that is left would end after its deadline. Set a later one."
        return Waiting(WaitsFor.DEADLINE, text)
    return None


def _gain() -> Waiting:
    text = "Little is left to gain, or all was tried. New data or a new model wakes the search."
    return Waiting(WaitsFor.GAIN, text)


def _device(around: _Surroundings) -> Waiting:
    others = around.running.total()
    devices = used.counted(around.workers, "device")
    text = f"A task waits for a device: {others} run on {devices}."
    return Waiting(WaitsFor.DEVICE, text)


def _decision(around: _Surroundings) -> Waiting:
    if not around.schedulers:
        return Waiting(WaitsFor.SCHEDULER, f"No scheduler runs. {_START}")
    if around.running.total() + around.queued.total() >= around.workers:
        return _device(around)
    return Waiting(WaitsFor.DECISION, "The scheduler is about to choose what to train next.")
