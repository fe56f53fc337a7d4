"""Try-outs: this model for this application, now."""

from typing import Annotated

from pydantic import Field

from easeml.contract.states import (
    ENDED_JOBS,
    SEARCHED_JOBS,
    TASKS_UNDER_WAY,
    JobState,
    TaskGroup,
    TaskState,
)
from easeml.contract.tryouts import Tryout
from easeml.errors import Conflict, NotReady, OverQuota
from easeml.modules import Registry
from easeml.service.access.caller import Caller
from easeml.service.knowledge import knowledge_base, rules
from easeml.service.limits import quotas, used
from easeml.service.search import candidates, jobs, training_tasks
from easeml.store import Store, Tables, Transaction
from easeml.store.records import Application, Candidate, Job, Task
from easeml.store.shapes import or_endless

ModelName = Annotated[str, Field(max_length=200, description="name of the model")]
_ASK = "Ask the one who runs this easeml for more."


def try_model(store: Store, caller: Caller, application_id: str, model: ModelName) -> Tryout:
    """Train a model for an application now: it gets the next device, before other tenants' work.

    The first configuration of it is trained that was not yet. A model that was left out at the
    declaration is let in. Repeated, it tells of the same task. Raises ``NotFound``,
    ``InvalidInput`` for a model that is unknown or does not fit, ``Conflict`` where all of it was
    tried or the search has ended, ``NotReady`` while the data is prepared, and ``OverQuota``.
    """
    with store.write() as tx:
        application = tx.scoped(caller.tenant_id).applications.get(application_id)
        return begin(tx, knowledge_base.of_tenant(tx, caller.tenant_id), application, model)


def begin(tx: Transaction, registry: Registry, application: Application, model: str) -> Tryout:
    """Write the urgent task of a try-out, or hurry the one that waits; see ``try_model``."""
    tables = tx.scoped(application.tenant_id)
    job = _open_job(tables, application)
    found = tables.candidates.list(job_id=job.id, model=model, limit=None)
    if not found:
        found = _let_in(tx, tables, registry, application, job, model)

    tasks = _tasks(tables, found)
    for candidate in found:
        task = tasks.get(candidate.id)
        if task is not None and task.state in TASKS_UNDER_WAY:
            return _shown(_hurried(tables, task), candidate)

    untried = [candidate for candidate in found if candidate.id not in tasks]
    if not untried:
        raise Conflict(
            f"Each of the {len(found)} configurations of {model} was tried.",
            where="model",
            remedy="easeml app show lists how good they were.",
        )
    _check_limits(tx, tables, job)
    task = training_tasks.request_training(tx, registry, job, untried[0], urgent=True)
    return _shown(task, untried[0])


def _open_job(tables: Tables, application: Application) -> Job:
    job = jobs.current(tables, application.id)
    if job is None or job.state in ENDED_JOBS:
        raise Conflict(
            "The search of this application has ended.", remedy="Declare the application again."
        )
    if job.state == JobState.PREPARING:
        raise NotReady("The data is being prepared.", where=job.id, remedy="Try again in a moment.")
    return job


def _let_in(
    tx: Transaction,
    tables: Tables,
    registry: Registry,
    application: Application,
    job: Job,
    model: str,
) -> list[Candidate]:
    """Give a job the candidates of a model that was left out, and return them."""
    allowing = rules.with_model(tables, application, model, registry)
    application = tables.applications.update(application.id, rules=allowing)
    candidates.add_model(tx, registry, application, job, model)
    return tables.candidates.list(job_id=job.id, model=model, limit=None)


def _tasks(tables: Tables, found: list[Candidate]) -> dict[str, Task]:
    """Return the training tasks of candidates, by candidate, but for those that were cancelled."""
    ids = [candidate.id for candidate in found]
    tasks = tables.tasks.list(candidate_id=ids, kind=TaskGroup.TRAIN, limit=None)
    return {task.candidate_id: task for task in tasks if task.state != TaskState.CANCELLED}


def _hurried(tables: Tables, task: Task) -> Task:
    if task.state == TaskState.RUNNING or task.urgent:
        return task
    return tables.tasks.update(task.id, where={"state": TaskState.WAITING}, urgent=True)


def _check_limits(tx: Transaction, tables: Tables, job: Job) -> None:
    """Raise where the search or its tenant may train nothing more."""
    if not training_tasks.within_limits(tx, job):
        raise Conflict(
            "The search's limit is used up.", where=job.id, remedy="Raise it: easeml job limit."
        )
    quotas.check_computing(tx, job.tenant_id)
    terms = tx.tenants.get(job.tenant_id).limits
    under_way = tables.tasks.count(kind=TaskGroup.TRAIN, state=TASKS_UNDER_WAY)
    if under_way >= or_endless(terms.devices):
        most = used.counted(or_endless(terms.devices), "device")
        text = f"Your quota of {most} is in use."
        raise OverQuota(text, where="devices", remedy=_ASK)
    spent = sum(tables.jobs.column("cost", state=SEARCHED_JOBS))
    if spent >= or_endless(terms.seconds):
        most = used.counted(or_endless(terms.seconds), "device second")
        text = f"Your quota of {most} is used up."
        raise OverQuota(text, where="seconds", remedy=_ASK)


def _shown(task: Task, candidate: Candidate) -> Tryout:
    return Tryout(
        task_id=task.id, model=candidate.model, candidate=candidate.name, state=task.state
    )
