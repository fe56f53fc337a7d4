"""The scheduler's decisions one by one, each with the scores behind it; other tenants by number."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from easeml.contract.parameters import Limit
from easeml.contract.resources import Page
from easeml.contract.scheduling import Rival, Scored, Step
from easeml.errors import NotFound
from easeml.service.access.caller import Caller
from easeml.service.access.tenant_view import TenantView
from easeml.service.scheduling.sentences import gain_of, sentence
from easeml.store import Store, Transaction
from easeml.store.records import Decision, Task

Numbered = tuple[int, Decision]
OfAny = Annotated[str | None, Field(max_length=200, description="id or name of an application")]
Number = Annotated[int, Field(ge=0, le=2**31, description="number of the decision before")]
Latest = Annotated[int | None, Field(ge=1, le=200, description="only the newest so many")]


class Named(NamedTuple):
    """The application of a job: its id and its name."""

    id: str
    name: str


def page(
    store: Store,
    caller: Caller,
    *,
    application: OfAny = None,
    after: Number = 0,
    latest: Latest = None,
    limit: Limit = 50,
) -> Page[Step]:
    """Return a page of the scheduler's decisions, oldest first, with the scores behind each.

    ``after``: the number that the first of them follows. ``application``: only those for this one,
    by its id or its name. ``latest``: only the newest so many. Raises ``NotFound`` for an
    application that there is not, or that the caller does not see.
    """
    with store.read() as tx:
        view = TenantView.of(tx, caller)
        if application is None:
            found = _of_all(tx, after, latest, limit + 1)
        else:
            jobs = _jobs_of(tx, caller, application)
            found = _of_jobs(tx, jobs, after, latest)
        items = _steps(tx, view, found[:limit])
    if len(found) <= limit:
        return Page(items=items)
    return Page(items=items, next=str(items[-1].number))


def _jobs_of(tx: Transaction, caller: Caller, application: str) -> list[str]:
    """Return the jobs of an application that the caller sees."""
    tables = tx.unscoped() if caller.is_provider else tx.scoped(caller.tenant_id)
    found = tables.applications.find(id=application) or tables.applications.find(name=application)
    if found is None:
        raise NotFound(
            "There is no such application, or it is not yours.",
            where=application,
            remedy="Give its id or its name; easeml app list shows both.",
        )
    return tables.jobs.column("id", application_id=found.id)


def _of_all(tx: Transaction, after: int, latest: int | None, limit: int) -> list[Numbered]:
    decisions = tx.unscoped().decisions
    start = after
    if latest is not None:
        start = max(after, decisions.count() - latest)
    return list(enumerate(decisions.list(skip=start, limit=limit), start=start + 1))


def _of_jobs(tx: Transaction, jobs: list[str], after: int, latest: int | None) -> list[Numbered]:
    """Return the decisions for some jobs; their numbers are those among all tenants'."""
    decisions = tx.unscoped().decisions
    number = {id: place for place, id in enumerate(decisions.column("id"), start=1)}
    found = decisions.list(job_id=jobs, limit=None)
    if latest is not None:
        found = found[-latest:]
    return [(number[one.id], one) for one in found if number[one.id] > after]


def _steps(tx: Transaction, view: TenantView, numbered: list[Numbered]) -> list[Step]:
    found = [decision for _, decision in numbered]
    applications = applications_of(tx, [decision.job_id for decision in found])
    tasks = tx.unscoped().tasks.by_id(id=[decision.task_id for decision in found])
    steps = []
    for number, decision in numbered:
        application = applications[decision.job_id]
        steps.append(_step(decision, number, tasks.get(decision.task_id), application, view))
    return steps


def applications_of(tx: Transaction, jobs: Iterable[str]) -> dict[str, Named]:
    """Return the application of each job, by the job's id."""
    tables = tx.unscoped()
    of_job = dict(tables.jobs.pick("id", "application_id", id=sorted(set(jobs))))
    names = dict(tables.applications.pick("id", "name", id=sorted(set(of_job.values()))))
    return {job: Named(application, names[application]) for job, application in of_job.items()}


def _step(
    decision: Decision, number: int, task: Task | None, application: Named, view: TenantView
) -> Step:
    step = explained(decision.explanation, decision.tenant_id, view)
    who = step.tenant
    changes: dict[str, Any] = {
        "number": number,
        "moment": decision.created,
        "policy": decision.policy,
    }
    if task is not None:
        changes |= {"state": task.state, "quality": task.quality, "seconds": task.cost or None}
    if view.sees(decision.tenant_id):
        who = application.name
        changes["application"] = application.name
    if view.is_own(decision.tenant_id):
        changes |= {"application_id": application.id, "task_id": decision.task_id}
    changes["sentence"] = sentence(decision.explanation, who, step.candidate)
    return step.model_copy(update=changes)


def explained(explanation: Mapping[str, Any], tenant_id: str, view: TenantView) -> Step:
    """Return what an explanation of a policy tells ``view``.

    The candidates of other tenants have no names.
    """
    turn = explanation.get("turn", {})
    top = explanation.get("top", [])
    names = [f"candidate {place}" for place in range(1, len(top) + 1)]
    if view.sees(tenant_id):
        names = [entry["name"] for entry in top]
    last = turn.get("last_served_at_step")
    candidate = names[0] if names else ""
    return Step(
        number=0,
        moment=0.0,
        policy="",
        rule=explanation.get("rule", ""),
        tenant=view.name(tenant_id),
        own=view.is_own(tenant_id),
        candidate=candidate,
        sentence=sentence(explanation, view.name(tenant_id), candidate),
        waiting=turn.get("tenants_waiting", 0),
        waited=None if last is None else explanation["step"] - last,
        best_so_far=explanation.get("best_so_far"),
        compared=explanation.get("arms_compared", 0),
        rivals=_rivals(explanation, tenant_id, view),
        candidates=_scored(explanation, names),
    )


def _rivals(explanation: Mapping[str, Any], chosen: str, view: TenantView) -> list[Rival]:
    """Return the tenants that were compared; ``chosen``: the one whose turn it was."""
    rivals = []
    for entry in explanation.get("tenants", []):
        tenant_id = entry["tenant"]
        rival = Rival(
            tenant=view.name(tenant_id),
            own=view.is_own(tenant_id),
            rate=entry["rate"],
            chosen=tenant_id == chosen,
        )
        rivals.append(rival)
    return rivals


def _scored(explanation: Mapping[str, Any], names: Sequence[str]) -> list[Scored]:
    """Return the best candidates with their scores, the chosen one first."""
    best = explanation.get("best_so_far")
    candidates = []
    for name, entry in zip(names, explanation.get("top", []), strict=True):
        candidate = Scored(
            name=name,
            score=entry["score"],
            mean=entry["mean"],
            sd=entry["sd"],
            cost=entry["cost"],
            gain=gain_of(entry, best),
            chosen=not candidates,
        )
        candidates.append(candidate)
    return candidates
