"""What a provider sees of their easeml: tenants in numbers, settings, storage, and what happened."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, fields

import sqlalchemy as sa

from easeml.contract.administration import AuditEvent, Setting, Tenant, TenantLimits
from easeml.contract.resources import Page
from easeml.contract.states import SEARCHED_JOBS, JobState, Lane, TaskState
from easeml.errors import NotFound
from easeml.service.access.caller import Caller
from easeml.service.administration import kept_settings
from easeml.settings import Settings
from easeml.store import Store, Transaction

_OPEN = (JobState.PREPARING, *SEARCHED_JOBS)


@dataclass(frozen=True, slots=True)
class _Work:
    """What of a task is counted."""

    tenant_id: str
    cost: float
    state: TaskState
    lane: Lane
    job_id: str

    @classmethod
    def names(cls) -> list[str]:
        """The fields that are read."""
        return [field.name for field in fields(cls)]

    @property
    def is_training(self) -> bool:
        """Does it use a device of the search now?"""
        return self.state == TaskState.RUNNING and self.lane == Lane.SEARCH


def tenants(store: Store, caller: Caller) -> list[Tenant]:
    """Return all tenants, oldest first (providers only); raises ``NotAllowed``."""
    caller.require_provider()
    with store.read() as tx:
        tables = tx.unscoped()
        users = Counter(tables.memberships.column("tenant_id"))
        applications = Counter(tables.applications.column("tenant_id"))
        work = [_Work(*row) for row in tables.tasks.pick(*_Work.names())]
        tasks = Counter(task.tenant_id for task in work)
        training = Counter(task.tenant_id for task in work if task.is_training)
        waiting = Counter(task.tenant_id for task in work if task.state == TaskState.WAITING)
        open_jobs = set(tables.jobs.column("id", state=_OPEN))
        cost = _sums((task.tenant_id, task.cost) for task in work)
        of_open = [task for task in work if task.job_id in open_jobs]
        open_cost = _sums((task.tenant_id, task.cost) for task in of_open)
        stored = _sums(tables.artefacts.pick("tenant_id", "size"))
        return [
            Tenant(
                id=tenant.id,
                name=tenant.name,
                users=users[tenant.id],
                applications=applications[tenant.id],
                tasks=tasks[tenant.id],
                cost=cost[tenant.id],
                stored=int(stored[tenant.id]),
                created=tenant.created,
                training=training[tenant.id],
                open_cost=open_cost[tenant.id],
                waiting=waiting[tenant.id],
                limits=TenantLimits(**tenant.limits.to_json()),
            )
            for tenant in tx.tenants.list(limit=None)
        ]


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
        setting = Setting(
            name=name,
            value=_HIDING[name](value) if name in _HIDING else value,
            origin=origins.get(name, "default"),
            about=field.description or "",
        )
        found.append(setting)
    return found


def audit(
    store: Store,
    caller: Caller,
    *,
    before: int | None = None,
    limit: int = 50,
    kind: str = "",
    person: str = "",
) -> Page[AuditEvent]:
    """Return what happened to all tenants, newest first (providers only).

    ``before``: only events with a smaller number. ``kind``: of this kind, such as
    ``user.signed-in``, or of all that begin with it, such as ``user``. ``person``: the name of a
    user; what they or the tenant of their own are the subject of. Raises ``NotAllowed``, and
    ``NotFound`` for a name that nobody has.
    """
    caller.require_provider()
    with store.read() as tx:
        end = tx.events.last() + 1 if before is None else before
        found = tx.events.before(end, kind=kind, person=_person(tx, person), limit=limit)
        names = dict(tx.tenants.pick("id", "name"))
    items = [
        AuditEvent(
            seq=event.seq,
            tenant=names.get(event.tenant_id, ""),
            kind=event.kind,
            subject=event.subject,
            data=event.data,
            created=event.created,
        )
        for event in found
    ]
    if len(items) < limit or items[-1].seq == 1:
        return Page(items=items, next=None)
    return Page(items=items, next=str(items[-1].seq))


def _person(tx: Transaction, name: str) -> tuple[str, str] | None:
    """Return the ids of a user and of their tenant; None: no name is given. Raises ``NotFound``."""
    if not name:
        return None
    user = tx.users.find(name=name)
    if user is None:
        raise NotFound("Nobody has this name.", where=name, remedy="See `easeml user list`.")
    return user.id, user.tenant_id


def _sums(pairs: Iterable[tuple[str, float]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for tenant, amount in pairs:
        found[tenant] += amount  # type: ignore[assignment]
    return found


def _without_password(url: str) -> str:
    return sa.make_url(url).render_as_string(hide_password=True) if url else ""


def _hidden(secret: str) -> str:
    return "(hidden)" if secret else ""


_HIDING = {
    "database_url": _without_password,
    "smtp_url": _without_password,
    "mlflow_tracking_uri": _without_password,
    "openid_client_secret": _hidden,
}
