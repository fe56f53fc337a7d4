"""Schedules: when data sets are fetched again, for a new version or for predictions."""

from collections.abc import Iterable
from dataclasses import replace

from easeml.contract.parameters import After, Limit
from easeml.contract.resources import Page
from easeml.contract.sources import Choice, NewSchedule, SchedulesView
from easeml.contract.sources import Retrieval as RetrievalAnswer
from easeml.contract.sources import Schedule as ScheduleAnswer
from easeml.contract.states import SourceAction
from easeml.errors import Conflict
from easeml.ids import new_id
from easeml.service.access.caller import Caller
from easeml.service.access.paging import page_of, page_records
from easeml.service.sources import granting, retrievals
from easeml.service.sources.origins import origin_of
from easeml.service.sources.timing import When, next_after, read_when
from easeml.settings import Settings
from easeml.store import Store, Tables, Transaction
from easeml.store.records import Application, Dataset, Retrieval, Schedule

_MOST = 50  # of a tenant
_MOST_CHOICES = 200


def add(store: Store, settings: Settings, caller: Caller, wish: NewSchedule) -> ScheduleAnswer:
    """Have a data set fetched again at certain times.

    Raises ``NotFound``; ``InvalidInput`` for a time or a zone that there is not; ``Conflict`` for a
    data set that came as a file, and where there are too many; ``NotAllowed`` where no connection
    leads to it.
    """
    when = read_when(wish.every, wish.at, wish.zone)
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        origin = origin_of(tables, wish.dataset_id)
        granting.check(settings, tx.tenants.get(caller.tenant_id), origin)
        if wish.application_id:
            tables.applications.get(wish.application_id)
        if tables.schedules.count() >= _MOST:
            raise Conflict(f"There are {_MOST} schedules already.", remedy="Delete one first.")
        made = Schedule(
            new_id("sched"),
            caller.tenant_id,
            caller.user_id,
            SourceAction.PREDICT if wish.application_id else SourceAction.REFRESH,
            wish.dataset_id,
            wish.application_id,
            when.every,
            when.at,
            when.zone,
            next_after(when, tx.now()),
        )
        added = tables.schedules.add(made)
        _tell(tx, added, "schedule.added", caller)
        return _show(tables, added)


def get(store: Store, caller: Caller, schedule_id: str) -> ScheduleAnswer:
    """Return one schedule; raises ``NotFound``."""
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        return _show(tables, tables.schedules.get(schedule_id))


def list_page(
    store: Store, caller: Caller, *, after: After = None, limit: Limit = 50
) -> Page[ScheduleAnswer]:
    """Return a page of the tenant's schedules, oldest first."""
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        found, following = page_records(tables.schedules, after, limit)
        return Page(items=[_show(tables, one) for one in found], next=following)


def view(store: Store, caller: Caller) -> SchedulesView:
    """Return what a page of schedules shows: all of them, and what others can be about."""
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        fetched = {
            dataset_id
            for dataset_id, operation in tables.versions.pick("dataset_id", "operation")
            if operation.origin
        }
        newest = {"newest_first": True, "limit": _MOST_CHOICES}
        sources = tables.datasets.list(id=sorted(fetched)[-_MOST_CHOICES:], **newest)
        applications = tables.applications.list(deleted=None, **newest)
        return SchedulesView(
            schedules=[_show(tables, one) for one in tables.schedules.list(limit=None)],
            datasets=_choices(sources),
            applications=_choices(applications),
        )


def _choices(found: Iterable[Dataset | Application]) -> list[Choice]:
    return [Choice(id=one.id, name=one.name) for one in found]


def retrievals_page(
    store: Store, caller: Caller, schedule_id: str, *, after: After = None, limit: Limit = 50
) -> Page[RetrievalAnswer]:
    """Return a page of the retrievals of a schedule, newest first; raises ``NotFound``."""
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        tables.schedules.get(schedule_id)
        here = {"schedule_id": schedule_id}
        return page_of(tables.retrievals, retrievals.show, after, limit, newest_first=True, **here)


def pause(store: Store, caller: Caller, schedule_id: str) -> ScheduleAnswer:
    """Let a schedule start nothing more; what runs may finish. Raises ``NotFound``."""
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        paused = tables.schedules.update(schedule_id, paused=True)
        _tell(tx, paused, "schedule.paused", caller)
        return _show(tables, paused)


def resume(store: Store, caller: Caller, schedule_id: str) -> ScheduleAnswer:
    """Let a schedule go on at its next time, in the name of the caller; missed times are not made up for.

    Raises ``NotFound``, and ``InvalidInput`` where its time zone is not known any more.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        next_time = next_after(when_of(tables.schedules.get(schedule_id)), tx.now())
        changes = {"failures": 0, "error": "", "user_id": caller.user_id}
        resumed = tables.schedules.update(schedule_id, paused=False, next_time=next_time, **changes)
        _tell(tx, resumed, "schedule.resumed", caller)
        return _show(tables, resumed)


def start_now(
    store: Store, settings: Settings, caller: Caller, schedule_id: str
) -> RetrievalAnswer:
    """Do now what a schedule does, besides its times; while it is running, return that retrieval.

    Raises ``NotFound``, and as ``add_origin`` does.
    """
    with store.write() as tx:
        schedule = tx.scoped(caller.tenant_id).schedules.hold(schedule_id)
        return retrievals.show(start(tx, settings, schedule))


def delete(store: Store, caller: Caller, schedule_id: str) -> ScheduleAnswer:
    """Delete a schedule and the list of its retrievals; what it predicted stays with the tasks.

    Raises ``NotFound``.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        schedule = tables.schedules.get(schedule_id)
        shown = _show(tables, schedule)
        later = tx.now() + 1.0
        tables.schedules.forget(later, id=schedule_id)
        tables.retrievals.forget(later, schedule_id=schedule_id)
        _tell(tx, schedule, "schedule.deleted", caller)
        return shown


def start(tx: Transaction, settings: Settings, schedule: Schedule) -> Retrieval:
    """Start what a schedule does, and return the retrieval; one that is running is not started again.

    Raises as ``retrievals.start``.
    """
    # A refresh by hand does the same; two predictions for two schedules do not.
    here = {"dataset_id": schedule.dataset_id, "action": schedule.action}
    if schedule.action == SourceAction.PREDICT:
        here["schedule_id"] = schedule.id
    running = retrievals.under_way(tx, schedule.tenant_id, **here)
    if running is not None:
        return running
    retrieval = retrievals.new_retrieval(
        schedule.tenant_id, schedule.action, schedule.dataset_id, schedule.application_id
    )
    return retrievals.start(tx, settings, replace(retrieval, schedule_id=schedule.id))


def when_of(schedule: Schedule) -> When:
    """Return when a schedule runs."""
    return When(schedule.every, schedule.at, schedule.zone)


def _tell(tx: Transaction, schedule: Schedule, kind: str, caller: Caller) -> None:
    """Keep in the audit who changed what is done by itself."""
    about = {"action": schedule.action, "dataset_id": schedule.dataset_id, "by": caller.user_id}
    tx.events.append(kind, schedule.id, about, schedule.tenant_id)


def _show(tables: Tables, schedule: Schedule) -> ScheduleAnswer:
    newest = tables.retrievals.newest(schedule_id=schedule.id)
    names = dict(tables.applications.pick("id", "name", id=schedule.application_id))
    return ScheduleAnswer(
        id=schedule.id,
        action=schedule.action,
        dataset_id=schedule.dataset_id,
        dataset=tables.datasets.get(schedule.dataset_id).name,
        application_id=schedule.application_id,
        application=names.get(schedule.application_id, ""),
        every=schedule.every,
        at=schedule.at,
        zone=schedule.zone,
        next_time=None if schedule.paused else schedule.next_time,
        paused=schedule.paused,
        failures=schedule.failures,
        error=schedule.error,
        last=retrievals.show(newest) if newest else None,
        created=schedule.created,
    )
