"""What easeml tells a user by itself: of all events, those that he would ask for."""

from easeml.contract.notifications import Notification, Notifications
from easeml.service.access.caller import Caller
from easeml.store import Store, Tables, Transaction
from easeml.store.records import Event

KINDS = (
    "promotion.live",  # a better model serves
    "job.resting",  # the search converged, or its limits are used up
    "application.new-model",  # of the knowledge base, that its search goes on with
    "job.failed",
    "application.failed",
    "dataset.failed",
)
_MOST_COUNTED = 100


def get(store: Store, caller: Caller, limit: int = 50) -> Notifications:
    """Return the caller's newest notifications and how many he has not read (at most 100 are
    counted).
    """
    with store.read() as tx:
        mark = tx.users.get(caller.user_id).read_seq
        events = tx.events.newest(caller.tenant_id, KINDS, limit=limit)
        tables = tx.scoped(caller.tenant_id)
        items = [_show(tables, event, mark) for event in events]
        return Notifications(items=items, unread=unread(tx, caller.user_id, caller.tenant_id))


def mark_read(store: Store, caller: Caller, seq: int) -> Notifications:
    """Take all notifications up to event ``seq`` as read by the caller."""
    with store.write() as tx:
        user = tx.users.get(caller.user_id)
        if seq > user.read_seq:
            tx.users.update(user.id, read_seq=min(seq, tx.events.last()))
    return get(store, caller)


def unread(tx: Transaction, user_id: str, tenant_id: str) -> int:
    """Return how many notifications a user has not read, at most 100."""
    mark = tx.users.get(user_id).read_seq
    return len(tx.events.newest(tenant_id, KINDS, after=mark, limit=_MOST_COUNTED))


def _show(tables: Tables, event: Event, mark: int) -> Notification:
    subject, name = _subject(tables, event)
    return Notification(
        seq=event.seq,
        kind=event.kind,
        subject=subject,
        name=name,
        data=event.data,
        unread=event.seq > mark,
        created=event.created,
    )


def _subject(tables: Tables, event: Event) -> tuple[str, str]:
    """Return id and name of the application or dataset that an event is about."""
    if event.kind.startswith("dataset."):
        version = tables.versions.find(id=event.subject)
        dataset = tables.datasets.find(id=version.dataset_id) if version else None
        return (dataset.id, dataset.name) if dataset else (event.subject, "")
    id = str(event.data.get("application_id") or event.subject)
    application = tables.applications.find(id=id)
    return id, application.name if application else ""
