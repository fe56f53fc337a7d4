"""What easeml tells a user by itself: of all events, those that they would ask for."""

from collections import ChainMap, defaultdict
from collections.abc import Mapping, Sequence
from math import inf

from easeml.contract.notification_texts import sentence
from easeml.contract.notifications import Notification, Notifications
from easeml.contract.parameters import EventNumber, Limit
from easeml.contract.permissions import OF_MEMBER, OF_SHARE
from easeml.contract.states import Permission
from easeml.service.access.caller import Caller
from easeml.store import Store, Tables, Transaction
from easeml.store.records import Event

KINDS = (
    "promotion.live",  # a better model serves
    "promotion.refused",  # it is not proven to be what the gate asks for
    "promotion.waits",  # its test needs labels of people
    "rollout.taken-back",  # it is worse on live requests than the model that serves
    "release.returned",  # truth showed that the model before would have been right more often
    "model.lost",  # what serves now is another
    "provider.model-lost",  # the same, for those who run this easeml
    "provider.starving",  # a tenant waits longer than the policy promises
    "module.fault",  # a model is worse than no model: for those who run this easeml
    "job.waiting",  # nothing of it can run until somebody acts
    "job.resting",  # the search converged, or its limits are used up
    "application.new-model",  # of the knowledge base, that its search goes on with
    "job.failed",
    "application.failed",
    "dataset.failed",
    "dataset.stale",  # it could not be fetched again; the last good version stays
    "dataset.fresh",  # after that it was
    "predictions.failed",  # of a source's rows, on a schedule
    "predictions.over",  # that they failed
    "watch.alert",  # what serves may not be right any more
    "watch.over",
    "subscription.paused",
)
_Since = Mapping[str, dict[str, float]]
"""When applications of other tenants were shared with a user: tenant -> application -> seconds."""
_NONE = ""  # no tenant: all that is shared is another's
_MOST_COUNTED = 100
_MOST_READ = 300  # events, of which some are superseded


def get(store: Store, caller: Caller, limit: Limit = 50) -> Notifications:
    """Return the caller's newest notifications and how many are unread.

    They are of the tenant, where the caller may look at it, and of what is shared with them to look
    at or own. At most 100 are counted. Of the models that served an application the newest one is told: a search that
    finds a better one every few seconds is one piece of news.
    """
    with store.read() as tx:
        mark = tx.users.get(caller.user_id).read_seq
        events = _news(tx, caller)[:limit]
        subjects = _subjects(tx.unscoped(), events)  # of events that are told to the caller
        items = [_show(event, *subjects[event.seq], mark) for event in events]
        unread = _count_unread(tx, caller, mark)
        return Notifications(items=items, unread=unread)


def mark_read(store: Store, caller: Caller, seq: EventNumber) -> Notifications:
    """Take all notifications up to a number as read by the caller."""
    with store.write() as tx:
        user = tx.users.get(caller.user_id)
        if seq > user.read_seq:
            tx.users.update(user.id, read_seq=min(seq, tx.events.last()))
    return get(store, caller)


def following(
    tx: Transaction, user_id: str, tenant_id: str, kinds: Sequence[str], *, after: int, limit: int
) -> tuple[list[Notification], int]:
    """Return the notifications that follow event ``after``, oldest first, of the same as ``get``.

    The second is the number of the newest event that was looked at, of ``limit``: those of a
    sharing tenant's other applications are not told.
    """
    since = _shared_since(tx, user_id, tenant_id)
    events: list[Event] = []
    for owner_id in (tenant_id, *since):
        events += tx.events.next_of_kinds(owner_id, kinds, after=after, limit=limit)
    events = sorted(events, key=_number)[:limit]
    told = [one for one in events if _is_told(one, since)]
    subjects = _subjects(tx.unscoped(), told)
    last = max(map(_number, events), default=after)
    return [_show(event, *subjects[event.seq], after) for event in told], last


def is_told_of(tx: Transaction, user_id: str, tenant_id: str, application_id: str) -> bool:
    """Is an application of another tenant shared with a user, to look at or own?"""
    return application_id in ChainMap(*_shared_since(tx, user_id, tenant_id).values())


def is_told(tx: Transaction, caller: Caller) -> bool:
    """May the caller look at anything: at their tenant, or at an application that is shared?"""
    return _looks_at_home(caller) or bool(_shared_since(tx, caller.user_id, _NONE))


def unread(tx: Transaction, caller: Caller) -> int:
    """Return how many notifications the caller has not read, at most 100."""
    return _count_unread(tx, caller, tx.users.get(caller.user_id).read_seq)


def _count_unread(tx: Transaction, caller: Caller, mark: int) -> int:
    return len(_news(tx, caller, after=mark)[:_MOST_COUNTED])


def _looks_at_home(caller: Caller) -> bool:
    return Permission.LOOK in OF_MEMBER[caller.member]


def _news(tx: Transaction, caller: Caller, after: int = 0) -> list[Event]:
    """Return the newest events of the caller's tenant and of what is shared with them.

    The newest comes first; models that serve no more are left out.
    """
    if _looks_at_home(caller):
        events = tx.events.newest(caller.tenant_id, KINDS, after=after, limit=_MOST_READ)
        events += _of_shared(tx, caller.user_id, caller.tenant_id, after)
    else:  # of the tenant that they belong to, too, they see only what is shared
        events = _of_shared(tx, caller.user_id, _NONE, after)
    events.sort(key=_number, reverse=True)
    found = []
    serving = set()
    for event in events:
        if event.kind == "promotion.live":
            application_id = _application_of(event)
            if application_id in serving:
                continue
            serving.add(application_id)
        found.append(event)
    return found


def _of_shared(tx: Transaction, user_id: str, tenant_id: str, after: int) -> list[Event]:
    """Return the newest events of what other tenants share with a user, since it is shared."""
    since = _shared_since(tx, user_id, tenant_id)
    found = []
    for owner_id in since:
        events = tx.events.newest(owner_id, KINDS, after=after, limit=_MOST_READ)
        found += [one for one in events if _is_told(one, since)]
    return found


def _shared_since(tx: Transaction, user_id: str, tenant_id: str) -> _Since:
    shares = tx.unscoped().shares.list(user_id=user_id, limit=None)
    since: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for share in shares:
        if share.tenant_id != tenant_id and Permission.LOOK in OF_SHARE[share.role]:
            since[share.tenant_id][share.application_id] = share.created
    return since


def _is_told(event: Event, since: _Since) -> bool:
    application_id = _application_of(event)
    shared = since.get(event.tenant_id, {application_id: 0.0})  # of their own tenant all is told
    return event.created >= shared.get(application_id, inf)


def _number(event: Event) -> int:
    return event.seq


def _show(event: Event, subject: str, name: str, mark: int) -> Notification:
    return Notification(
        seq=event.seq,
        kind=event.kind,
        subject=subject,
        name=name,
        text=sentence(event.kind, event.data),
        data=event.data,
        unread=event.seq > mark,
        created=event.created,
    )


def _subjects(tables: Tables, events: list[Event]) -> dict[int, tuple[str, str]]:
    """Return id and name of the application or dataset that each event is about, by its number."""
    of_datasets = list(filter(_is_of_dataset, events))
    return {**_applications(tables, events), **_datasets(tables, of_datasets)}


def _applications(tables: Tables, events: list[Event]) -> dict[int, tuple[str, str]]:
    ids = {event.seq: _application_of(event) for event in events}
    names = dict(tables.applications.pick("id", "name", id=sorted(set(ids.values()))))
    return {seq: (id, names.get(id, "")) for seq, id in ids.items()}


def _datasets(tables: Tables, events: list[Event]) -> dict[int, tuple[str, str]]:
    version_ids = [event.subject for event in events]
    dataset_of = dict(tables.versions.pick("id", "dataset_id", id=version_ids))
    names = dict(tables.datasets.pick("id", "name", id=list(dataset_of.values())))
    found = {}
    for event in events:
        id = dataset_of.get(event.subject, event.subject)
        found[event.seq] = (id, names.get(id, ""))
    return found


def _application_of(event: Event) -> str:
    return event.application_id or event.subject


def _is_of_dataset(event: Event) -> bool:
    return event.kind.startswith("dataset.")
