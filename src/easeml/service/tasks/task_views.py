"""Tasks and the scheduler's decisions, to look at."""

from typing import Annotated

from pydantic import Field

from easeml.contract import measures
from easeml.contract.parameters import After, Limit, NewestFirst, OfJob
from easeml.contract.resources import Page
from easeml.contract.states import TaskState
from easeml.contract.task_views import Attempt as AttemptAnswer
from easeml.contract.task_views import Decision as DecisionAnswer
from easeml.contract.task_views import Task as TaskAnswer
from easeml.contract.task_views import TaskDetail, TaskOverview
from easeml.service.access.caller import Caller
from easeml.service.access.paging import page_of, page_records
from easeml.service.tasks import needs
from easeml.service.tasks.kinds import called
from easeml.store import Store, Tables, Transaction
from easeml.store.records import Attempt, Decision, Task
from easeml.store.shapes import given


def get(store: Store, caller: Caller, task_id: str) -> TaskAnswer:
    """Return a task; raises ``NotFound``."""
    with store.read() as tx:
        return show_waiting(tx, caller, [tx.scoped(caller.tenant_id).tasks.get(task_id)])[0]


InState = Annotated[TaskState | None, Field(description="in this state only")]
OfKind = Annotated[str | None, Field(description="kind of the tasks, such as train")]
OfSubject = Annotated[
    str | None, Field(max_length=100, description="for this application or version only")
]


def list_page(
    store: Store,
    caller: Caller,
    *,
    after: After = None,
    limit: Limit = 50,
    newest_first: NewestFirst = False,
    job_id: OfJob = None,
    state: InState = None,
    kind: OfKind = None,
    subject: OfSubject = None,
) -> Page[TaskAnswer]:
    """Return a page of the tenant's tasks; a filter that is None does not filter."""
    wanted = {"job_id": job_id, "state": state, "kind": kind, "subject": subject}
    with store.read() as tx:
        return _page(tx, caller, wanted, after, limit, newest_first=newest_first)


def of_job(
    store: Store,
    caller: Caller,
    job_id: str,
    *,
    after: After = None,
    limit: Limit = 50,
    newest_first: NewestFirst = False,
    state: InState = None,
    kind: OfKind = None,
    subject: OfSubject = None,
) -> Page[TaskAnswer]:
    """Return a page of the tasks of a search; raises ``NotFound``.

    Whoever may look at the search may look at them: those with whom its application is shared, too.
    """
    with store.read() as tx:
        job = tx.scoped(caller.tenant_id).jobs.get(job_id)
        wanted = {"job_id": job.id, "state": state, "kind": kind, "subject": subject}
        return _page(tx, caller, wanted, after, limit, newest_first=newest_first)


def of_version(
    store: Store,
    caller: Caller,
    version_id: str,
    *,
    after: After = None,
    limit: Limit = 50,
    newest_first: NewestFirst = False,
    kind: OfKind = None,
) -> Page[TaskAnswer]:
    """Return a page of the tasks about a version of data, such as questions of it.

    Raises ``NotFound``.
    """
    with store.read() as tx:
        version = tx.scoped(caller.tenant_id).versions.get(version_id)
        wanted = {"subject": version.id, "kind": kind}
        return _page(tx, caller, wanted, after, limit, newest_first=newest_first)


def _page(
    tx: Transaction,
    caller: Caller,
    wanted: dict[str, str | None],
    after: str | None,
    limit: int,
    *,
    newest_first: bool,
) -> Page[TaskAnswer]:
    tables = tx.scoped(caller.tenant_id)
    found, following = page_records(
        tables.tasks, after, limit, newest_first=newest_first, **given(**wanted)
    )
    return Page(items=show_waiting(tx, caller, found), next=following)


def overview(
    store: Store,
    caller: Caller,
    *,
    after: After = None,
    limit: Limit = 50,
    state: InState = None,
    kind: OfKind = None,
    subject: OfSubject = None,
) -> TaskOverview:
    """Return a page of the tenant's tasks, newest first, with counts and names.

    The counts are of all tasks by state, the names those of the applications.
    """
    wanted = {"state": state, "kind": kind, "subject": subject}
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        page = _page(tx, caller, wanted, after, limit, newest_first=True)
        counted = tables.tasks.count_by("state")
        names = dict(tables.applications.pick("id", "name"))
    counts = {one.value: counted[one] for one in TaskState}
    return TaskOverview(page=page, counts=counts, applications=names)


def detail(store: Store, caller: Caller, task_id: str) -> TaskDetail:
    """Return what a task was told to do and its attempts; raises ``NotFound``."""
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        task = tables.tasks.get(task_id)
        attempts = attempts_of(tables, task)
    return show_detail(task, attempts)


def attempts_of(tables: Tables, task: Task) -> list[Attempt]:
    """Return the executions of a task, oldest first."""
    found = tables.attempts.list(task_id=task.id, limit=None)
    return sorted(found, key=lambda attempt: attempt.number)


def show_detail(task: Task, attempts: list[Attempt]) -> TaskDetail:
    """Return what a task was told to do, and its attempts."""
    shown = list(map(_show_attempt, attempts))
    return TaskDetail(spec=task.payload, attempts=shown)


def decisions_page(
    store: Store,
    caller: Caller,
    *,
    after: After = None,
    limit: Limit = 50,
    newest_first: NewestFirst = False,
    job_id: OfJob = None,
) -> Page[DecisionAnswer]:
    """Return a page of the scheduler's decisions for the tenant's jobs."""
    equals = given(job_id=job_id)
    with store.read() as tx:
        decisions = tx.scoped(caller.tenant_id).decisions
        return page_of(decisions, _show_decision, after, limit, newest_first=newest_first, **equals)


def names(tables: Tables, tasks: list[Task]) -> dict[str, str]:
    """Return what people call each task, by id: its candidate's name, or what its kind says."""
    trained = [task.candidate_id for task in tasks if task.candidate_id]
    name = dict(tables.candidates.pick("id", "name", id=trained))
    found = {}
    for task in tasks:
        found[task.id] = name.get(task.candidate_id) or called(task.payload)
    return found


def show_all(tables: Tables, tasks: list[Task]) -> list[TaskAnswer]:
    """Return the resources of tasks, in their order."""
    name = names(tables, tasks)
    return [_show(task, name[task.id]) for task in tasks]


def show_waiting(tx: Transaction, caller: Caller, tasks: list[Task]) -> list[TaskAnswer]:
    """Return the resources of a tenant's tasks, with why no machine can take those that wait."""
    shown = show_all(tx.scoped(caller.tenant_id), tasks)
    waiting = {task.id: task.needs for task in tasks if task.state == TaskState.WAITING}
    reasons = needs.fitting_nowhere(tx, waiting)
    return [one.model_copy(update={"waits": reasons.get(one.id, "")}) for one in shown]


def _show(task: Task, name: str) -> TaskAnswer:
    return TaskAnswer(
        id=task.id,
        kind=task.kind,
        lane=task.lane,
        state=task.state,
        subject=task.subject,
        job_id=task.job_id,
        name=name,
        attempts=task.attempts,
        quality=task.quality,
        measure=measures.kept(task.measure),
        cost=task.cost,
        error=task.error,
        result=task.result,
        created=task.created,
        started=task.started,
        finished=task.finished,
        traced=task.traced,
        threads=task.threads,
        memory=task.memory,
        disk=task.disk,
    )


def _show_attempt(attempt: Attempt) -> AttemptAnswer:
    return AttemptAnswer(
        number=attempt.number,
        state=attempt.state,
        error=attempt.error,
        started=attempt.started,
        finished=attempt.finished,
    )


def _show_decision(decision: Decision) -> DecisionAnswer:
    return DecisionAnswer(
        id=decision.id,
        job_id=decision.job_id,
        task_id=decision.task_id,
        policy=decision.policy,
        explanation=decision.explanation,
        created=decision.created,
    )
