"""A choice of the scheduler becomes a training task, within its job's limits."""

from easeml.contract.states import (
    FINISHED_TASKS,
    TASKS_UNDER_WAY,
    JobState,
    ProcessKind,
    ProcessState,
    TaskGroup,
)
from easeml.ids import new_id
from easeml.modules import Registry
from easeml.search import Decision as Choice
from easeml.service.knowledge import gpus, knowledge_base
from easeml.service.search import kept_results
from easeml.service.tasks import needs, requests
from easeml.store import Tables, Transaction
from easeml.store.records import Candidate, Decision, Job, Task
from easeml.store.shapes import or_endless

_LEASH = 4.0  # times what a run is believed to cost, until it has to end with what it has
_SHORTEST_LEASH = 10.0  # seconds


def write_decision(
    tx: Transaction,
    registry: Registry,
    choice: Choice,
    policy: str,
    epoch: int,
    cost: float | None = None,
    *,
    urgent: bool = False,
) -> Task | None:
    """Write the training task of a choice with the decision that explains it.

    ``cost``: device seconds that it is believed to take by now; None: as its candidate says.
    ``urgent``: it goes before all that is not.

    None (and nothing is written) if the job was paused, stopped or used up meanwhile, or the
    candidate was taken, or all GPUs are, and it needs one, or a task of the job waits that fits no
    machine.
    """
    job = tx.unscoped().jobs.get(choice.job)
    tables = tx.scoped(job.tenant_id)
    candidate = tables.candidates.find(job_id=job.id, arm=choice.arm)
    if job.state != JobState.RUNNING or candidate is None or not within_limits(tx, job):
        return None
    if tables.tasks.count(candidate_id=candidate.id, state=[*TASKS_UNDER_WAY, *FINISHED_TASKS]):
        return None
    if gpus.would_wait(tx, registry.get(candidate.model)) or needs.stuck(tx, job_id=job.id):
        return None
    if cost is not None and cost != candidate.predicted_cost:
        candidate = tables.candidates.update(candidate.id, predicted_cost=cost)
    longest = candidate.predicted_cost * _slowest_pace(tx)
    fits = tables.versions.get(job.version_id).summary.fits
    leash = max(_SHORTEST_LEASH * fits, _LEASH * longest)
    task = request_training(tx, registry, job, candidate, leash, urgent=urgent)
    tables.decisions.add(
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
    return task


def _slowest_pace(tx: Transaction) -> float:
    """Return how many times as long a run takes on the slowest device: which one it gets is open."""
    running = {"kind": ProcessKind.WORKER, "state": ProcessState.RUNNING}
    return max(tx.processes.column("pace", **running), default=1.0)


def within_limits(tx: Transaction, job: Job) -> bool:
    """May another task of this job start before its deadline?

    Tasks under way count as tasks, and with the cost predicted for them.
    """
    limits = job.limits
    tables = tx.scoped(job.tenant_id)
    if tx.now() >= or_endless(limits.deadline):
        return False
    if limits.seconds is not None:
        seconds = job.cost + _predicted_cost_under_way(tables, job)
        if seconds >= limits.seconds:
            return False
    if limits.tasks is None:
        return True
    states = [*TASKS_UNDER_WAY, *FINISHED_TASKS]
    tasks = tables.tasks.count(job_id=job.id, kind=TaskGroup.TRAIN, state=states)
    return tasks - kept_results.count(tables, job.id) < limits.tasks


def _predicted_cost_under_way(tables: Tables, job: Job) -> float:
    trained = tables.tasks.column(
        "candidate_id", job_id=job.id, kind=TaskGroup.TRAIN, state=TASKS_UNDER_WAY
    )
    return sum(tables.candidates.column("predicted_cost", id=trained))


def request_training(
    tx: Transaction,
    registry: Registry,
    job: Job,
    candidate: Candidate,
    leash: float | None = None,
    *,
    urgent: bool = False,
) -> Task:
    """Write a training task of a candidate, also where it was trained before.

    ``leash``: seconds of its own after which it ends with what it has; None: it goes on.
    """
    tables = tx.scoped(job.tenant_id)
    application = tables.applications.get(job.application_id)
    version = tables.versions.get(job.version_id)
    retries = int(registry.get(candidate.model).resources.get("retries", 1))
    return requests.request(
        tx,
        job.tenant_id,
        "train",
        application.id,
        job_id=job.id,
        candidate=candidate,
        max_attempts=1 + retries,
        urgent=urgent,
        pipeline=knowledge_base.pipeline_of(registry, candidate),
        objective=application.objective,
        schema_in=version.schema_in,
        schema_out=version.schema_out,
        seed=version.operation.seed,
        leash=leash,
        measures=application.rules.measures,
    )
