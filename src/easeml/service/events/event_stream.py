"""Events of a tenant, in order."""

from easeml.contract.status import Event as EventAnswer
from easeml.service.access.caller import Caller
from easeml.store import Store
from easeml.store.records import Event


def after(store: Store, caller: Caller, seq: int, *, limit: int = 500) -> list[EventAnswer]:
    """Return the tenant's events that follow ``seq``, at most ``limit``."""
    with store.read() as tx:
        found = tx.events.after(seq, tenant_id=caller.tenant_id, limit=limit)
    return list(map(show, found))


def show(event: Event) -> EventAnswer:
    """Return the resource of an event."""
    return EventAnswer(
        seq=event.seq,
        kind=event.kind,
        subject=event.subject,
        data=event.data,
        created=event.created,
    )


def last(store: Store) -> int:
    """Return the number of the newest event of all tenants."""
    with store.read() as tx:
        return tx.events.last()
