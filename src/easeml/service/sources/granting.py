"""What a fetch is handed when it runs: limits, and the one connection that it needs.

Nothing of it is stored: the worker reads the provider's file when the task starts.
"""

from dataclasses import dataclass

from easeml.errors import EasemlError
from easeml.fetching import Connection, Grant, Origin, read_connections
from easeml.fetching.connections import connection_for
from easeml.fetching.guard import trusted_hosts
from easeml.service.limits import quotas
from easeml.settings import Settings
from easeml.store import Store
from easeml.store.records import Task, Tenant
from easeml.store.shapes import Shape

FETCH_SECONDS = 240.0  # less than an attempt may take, so that the fetch itself says why it ended


@dataclass(frozen=True, slots=True)
class _Wanted(Shape):
    """What the spec of a fetch says of its origin."""

    address: str
    query: str = ""


def grant(store: Store, settings: Settings, task: Task) -> Grant:
    """Return what a task that fetches may do; one that may nothing says why."""
    with store.read() as tx:
        tenant = tx.tenants.get(task.tenant_id)
        left = quotas.storage_left(tx, task.tenant_id)
    limit = settings.upload_limit if left is None else min(left, settings.upload_limit)
    seconds = min(FETCH_SECONDS, settings.task_seconds)
    trusted = sorted(trusted_hosts(settings.outgoing_hosts))
    usual = Grant(limit=limit, seconds=seconds, trusted=trusted)
    wanted = _Wanted.from_json(task.payload)
    origin = Origin(wanted.address, wanted.query)
    try:
        connection = check(settings, tenant, origin)
    except EasemlError as error:
        return usual.model_copy(update={"refused": str(error)})
    return usual.model_copy(update={"connection": connection})


def check(settings: Settings, tenant: Tenant, origin: Origin) -> Connection | None:
    """Return the connection that leads to ``origin``; raises ``NotAllowed`` where there is none."""
    held = {} if origin.is_web else read_connections(settings.home)
    return connection_for(origin, held, (tenant.id, tenant.name))
