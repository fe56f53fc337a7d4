"""Events of a tenant, in order."""

from easeml.contract import resources
from easeml.service.caller import Caller
from easeml.store import Store


def after(store: Store, caller: Caller, seq: int, *, limit: int = 500) -> list[resources.Event]:
    """Return the tenant's events that follow ``seq``, at most ``limit``."""
    with store.read() as tx:
        found = tx.events.after(seq, tenant_id=caller.tenant_id, limit=limit)
    return [resources.Event(seq=e.seq, kind=e.kind, subject=e.subject, data=e.data, created=e.created) for e in found]


def last(store: Store) -> int:
    """Return the number of the newest event of all tenants."""
    with store.read() as tx:
        return tx.events.last()
