"""Starting what schedules say, by the one scheduler that leads."""

from contextlib import suppress

from easeml.contract.states import MemberRole, RetrievalState
from easeml.errors import Conflict, EasemlError, InvalidInput, NotFound, TooMany
from easeml.service.sources import retrievals, schedules, telling
from easeml.service.sources.timing import is_too_far, next_after
from easeml.settings import Settings
from easeml.store import Store, Transaction
from easeml.store.records import Schedule

_MOST_AT_ONCE = 20
_SOON = 60.0  # seconds until a schedule that found no room is tried again


def start_due(store: Store, settings: Settings) -> int:
    """Start what is due, once each however often it was missed; return how many that were.

    Whoever else does so at the same time: the one who moves the time of the next retrieval starts
    it.
    """
    with store.read() as tx:
        now = tx.now()
        waiting = tx.unscoped().schedules.list(paused=False, limit=None)
    due = [one for one in waiting if one.next_time <= now or _is_wrong(one, now)]
    started = 0
    for schedule in due[:_MOST_AT_ONCE]:
        with suppress(Conflict, NotFound):  # it was started, changed or deleted meanwhile
            started += _take(store, settings, schedule)
    return started


def _is_wrong(schedule: Schedule, now: float) -> bool:
    """Return whether the time of the next retrieval was reckoned by a clock that was wrong."""
    is_waiting_longer = schedule.failures > 0
    return not is_waiting_longer and is_too_far(
        schedules.when_of(schedule), schedule.next_time, now
    )


def _take(store: Store, settings: Settings, seen: Schedule) -> bool:
    with store.write() as tx:
        rows = tx.scoped(seen.tenant_id).schedules
        as_seen = {"next_time": seen.next_time, "paused": False}
        now = tx.now()
        try:
            next_time = next_after(schedules.when_of(seen), now)
        except InvalidInput as error:  # the zone is gone
            telling.stop(tx, rows.update(seen.id, where=as_seen, paused=True), str(error))
            return False
        schedule = rows.update(seen.id, where=as_seen, next_time=next_time)
        if seen.next_time > now:
            return False
        return _start(tx, settings, schedule)


def _start(tx: Transaction, settings: Settings, schedule: Schedule) -> bool:
    tables = tx.scoped(schedule.tenant_id)
    if not _may_still(tx, schedule):
        telling.stop(tx, schedule, "The person who made this schedule no longer has access.")
        return False
    application = tables.applications.find(id=schedule.application_id)
    if application is not None and application.deleted is not None:
        return False  # it may be restored
    try:
        schedules.start(tx, settings, schedule)
    except TooMany:
        tables.schedules.update(schedule.id, next_time=tx.now() + _SOON)
        return False
    except EasemlError as error:
        retrieval = retrievals.new_retrieval(
            schedule.tenant_id, schedule.action, schedule.dataset_id, schedule.application_id
        )
        failed = retrievals.add(tx, retrieval, schedule.id)
        retrievals.end(tx, failed, RetrievalState.FAILED, note=str(error))
    return True


def _may_still(tx: Transaction, schedule: Schedule) -> bool:
    """Return whether who made a schedule is an owner of the tenant still."""
    user = tx.users.find(id=schedule.user_id)
    if user is None or user.archived:
        return False
    membership = tx.scoped(schedule.tenant_id).memberships.find(user_id=user.id)
    return membership is not None and membership.role == MemberRole.OWNER
