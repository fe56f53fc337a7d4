"""What a provider sees of their easeml: tenants in numbers, settings, storage, and what happened."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from easeml.addresses import without_secrets
from easeml.contract.administration import AuditEvent, Setting, Tenant, TenantLimits
from easeml.contract.parameters import Limit, Offset
from easeml.contract.resources import Page
from easeml.contract.states import SEARCHED_JOBS, JobState, Lane, TaskState
from easeml.errors import NotFound
from easeml.service.access.caller import Caller
from easeml.service.administration import kept_settings
from easeml.service.limits.used import totals
from easeml.settings import Settings
from easeml.store import Store, Tables, Transaction
from easeml.store.records import Event
from easeml.store.shapes import Deed, Removed

EventKind = Annotated[
    str, Field(max_length=100, description="a kind, such as `user.signed-in`, or its beginning")
]
_MOST_REMOVED = 10_000  # people, among whom a name is looked for
_OPEN = (JobState.PREPARING, *SEARCHED_JOBS)


@dataclass(slots=True)
class _Work:
    """The tasks of a tenant; ``training``: those that use a device of the search now.

    ``cost``: device seconds of all, ``open_cost``: of those of searches that are not over.
    """

    tasks: int = 0
    training: int = 0
    waiting: int = 0
    cost: float = 0.0
    open_cost: float = 0.0


def tenants(store: Store, caller: Caller) -> list[Tenant]:
    """Return all tenants, oldest first (providers only); raises ``NotAllowed``."""
    caller.require_provider()
    with store.read() as tx:
        tables = tx.unscoped()
        users = tables.memberships.count_by("tenant_id")
        applications = tables.applications.count_by("tenant_id")
        work = _work(tables)
        stored = totals(tables.artefacts.pick("tenant_id", "size"))
        return [
            Tenant(
                id=tenant.id,
                name=tenant.name,
                users=users[tenant.id],
                applications=applications[tenant.id],
                tasks=work[tenant.id].tasks,
                cost=work[tenant.id].cost,
                stored=int(stored[tenant.id]),
                created=tenant.created,
                training=work[tenant.id].training,
                open_cost=work[tenant.id].open_cost,
                waiting=work[tenant.id].waiting,
                limits=TenantLimits(**tenant.limits.to_json()),
            )
            for tenant in tx.tenants.list(limit=None)
        ]


def _work(tables: Tables) -> defaultdict[str, _Work]:
    """Return what tasks are and cost, by tenant."""
    open_jobs = set(tables.jobs.column("id", state=_OPEN))
    found: defaultdict[str, _Work] = defaultdict(_Work)
    for tenant_id, cost, state, lane, job_id in tables.tasks.pick(
        "tenant_id", "cost", "state", "lane", "job_id"
    ):
        work = found[tenant_id]
        work.tasks += 1
        work.waiting += state == TaskState.WAITING
        work.training += (state, lane) == (TaskState.RUNNING, Lane.SEARCH)
        work.cost += cost
        if job_id in open_jobs:
            work.open_cost += cost
    return found


def settings_in_force(store: Store, settings: Settings, caller: Caller) -> list[Setting]:
    """Return every setting with its origin (providers only); passwords are hidden.

    Raises ``NotAllowed``.
    """
    caller.require_provider()
    with store.read() as tx:
        changed = kept_settings.kept(tx, settings)
    origins = settings.origins()
    origins.update(dict.fromkeys(changed, kept_settings.DATABASE))
    found = []
    for name, field in Settings.model_fields.items():
        value = changed.get(name) or str(getattr(settings, name))
        hide = _HIDING.get(name, without_secrets)
        setting = Setting(
            name=name,
            value=hide(value) if value else "",
            origin=origins.get(name, "default"),
            about=field.description or "",
        )
        found.append(setting)
    return found


def audit(
    store: Store,
    caller: Caller,
    *,
    before: Offset = None,
    limit: Limit = 50,
    kind: EventKind = "",
    person: Annotated[str, Field(max_length=100, description="name of a user")] = "",
) -> Page[AuditEvent]:
    """Return a page of what happened to all tenants, newest first (providers only).

    ``before``: ``next`` of the page before. ``kind``: of this kind, such as
    ``user.signed-in``, or of all that begin with it, such as ``user``. ``person``: the name of a
    user: what they did, and what they or the tenant of their own are the subject of. Of people who
    were removed also the name that they had, if nobody has it now, or the id. Raises
    ``NotAllowed``, and ``NotFound`` for a name that nobody has, or had.
    """
    caller.require_provider()
    with store.read() as tx:
        end = tx.events.last() + 1 if before is None else int(before)
        begins = kind.removesuffix(".")
        found = tx.events.before(end, kind=begins, person=_person(tx, person), limit=limit)
        names = dict(tx.tenants.pick("id", "name"))
        people = dict(tx.users.pick("id", "name"))
    items = [
        AuditEvent(
            seq=event.seq,
            by=_who(people, event),
            tenant=names.get(event.tenant_id, ""),
            kind=event.kind,
            subject=event.subject,
            data=event.data,
            created=event.created,
        )
        for event in found
    ]
    is_last = len(items) < limit or items[-1].seq == 1
    return Page(items=items, next=None if is_last else str(items[-1].seq))


def _who(people: dict[str, str], event: Event) -> str:
    """Return the name of who did it; of one who is removed the id is left."""
    by = Deed.from_json(event.data).by or ""
    return people.get(by, by)


def _person(tx: Transaction, name: str) -> tuple[str, str] | None:
    """Return the ids of a user and of their tenant; None: no name is given. Raises ``NotFound``."""
    if not name:
        return None
    user = tx.users.find(name=name) or tx.users.find(id=name)
    if user is not None:
        return user.id, user.tenant_id
    gone = tx.events.before(tx.events.last() + 1, kind="user.removed", limit=_MOST_REMOVED)
    by_name = {Removed.from_json(event.data).name: event for event in reversed(gone)}
    if name not in by_name:
        raise NotFound("Nobody has this name.", where=name, remedy="See `easeml user list`.")
    return by_name[name].subject, by_name[name].tenant_id


def _hidden(secret: str) -> str:
    return "(hidden)"


_HIDING = {"openid_client_secret": _hidden}
