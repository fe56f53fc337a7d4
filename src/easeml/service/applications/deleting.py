"""Deleting applications: with a day to undo, after which their space is given back."""

from contextlib import suppress
from typing import Any

from easeml.contract.applications import Application
from easeml.contract.keeping import Deletion, Dependents
from easeml.contract.parameters import After, Limit
from easeml.contract.resources import Page
from easeml.contract.states import ENDED_JOBS, JobState, TaskState, WorkState
from easeml.errors import Conflict, NotFound
from easeml.service.access.caller import Caller
from easeml.service.access.paging import page_records
from easeml.service.applications import application_views
from easeml.service.datasets import deleting as datasets
from easeml.service.limits import quotas
from easeml.service.search import jobs
from easeml.service.tasks import requests
from easeml.store import Store, Tables, Transaction
from easeml.store import records as kept

UNDO_SECONDS = 24 * 3600.0


def dependents(store: Store, caller: Caller, application_id: str) -> Dependents:
    """Return what hangs on an application, to be looked at before it is deleted.

    Raises ``NotFound``.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        here: dict[str, Any] = {"application_id": application_id}
        searches = tables.jobs.count(**here) - tables.jobs.count(**here, state=ENDED_JOBS)
        people = tables.shares.column("user_id", **here)
        others = tables.applications.list(
            version_id=application.version_id, deleted=None, limit=None
        )
        is_live = bool(application.live_model_id)
        return Dependents(
            application_id=application_id,
            name=application.name,
            endpoint=f"/api/v1/applications/{application_id}/predict" if is_live else "",
            models=tables.models.count(**here),
            searches=searches,
            gates=tables.gates.count(**here, ended=False),
            work_items=tables.work_items.count(**here, state=WorkState.OPEN),
            work_answers=tables.work_answers.count(**here),
            kept_requests=tables.production_rows.count(**here),
            schedules=tables.schedules.count(**here),
            shared_with=tx.users.column("name", id=people),
            applications=[one.name for one in others if one.id != application_id],
        )


def delete(store: Store, caller: Caller, application_id: str) -> Deletion:
    """Delete an application: its endpoint stops answering, its search pauses.

    It can be restored for a day; then its models and what people answered are erased. Its data set
    stays. Raises ``NotFound``; repeated, it changes nothing.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        if application.deleted is None:
            application = delete_in(tx, application, caller.user_id)
        return _show(application)


def delete_in(tx: Transaction, application: kept.Application, by: str) -> kept.Application:
    """Delete an application that is there; ``by``: the user who does."""
    tables = tx.scoped(application.tenant_id)
    application = tables.applications.update(application.id, deleted=tx.now())
    _halt(tx, tables, application)
    data = {"name": application.name, "by": by}
    tx.events.append("application.deleted", application.id, data, application.tenant_id)
    return application


def restore(store: Store, caller: Caller, application_id: str) -> Application:
    """Take back that an application was deleted: its endpoint answers as before.

    Its search stays paused. Raises ``NotFound``, ``Conflict`` where it is erased or was not
    deleted, ``OverQuota`` where others have taken its place.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        if application.erased:
            raise Conflict(f"{application.name} is erased.", where=application_id)
        if application.deleted is None:
            raise Conflict(f"{application.name} was not deleted.", where=application_id)
        quotas.check_applications(tx, caller.tenant_id)
        application = tables.applications.update(
            application_id, where={"erased": False}, deleted=None
        )
        datasets.restore(tables, application.dataset_id)
        data = {"name": application.name, "by": caller.user_id}
        tx.events.append("application.restored", application_id, data, caller.tenant_id)
        return application_views.show(tx, caller, application)


def list_deleted(
    store: Store, caller: Caller, *, after: After = None, limit: Limit = 50
) -> Page[Deletion]:
    """Return a page of the tenant's applications that can be restored, oldest first."""
    with store.read() as tx:
        rows = tx.scoped(caller.tenant_id).applications
        ids = [id for id, since in rows.pick("id", "deleted", erased=False) if since is not None]
        found, following = page_records(rows, after, limit, id=ids)
        return Page(items=list(map(_show, found)), next=following)


def check_there(application: kept.Application) -> None:
    """Raise ``NotFound`` for an application that is deleted."""
    if application.deleted is not None:
        raise NotFound(
            "This application is deleted.",
            where=application.id,
            remedy=f"For a day it can be had back: easeml app restore {application.id}",
        )


def erase_old(store: Store) -> int:
    """Erase the applications that were deleted more than a day ago; return how many.

    Their models, predictions, answers and kept requests are removed; the files that nothing else
    needs go with the next look of ``retention.looks``. The search's own log keeps numbers and ids
    alone.
    """
    with store.read() as tx:
        limit = tx.now() - UNDO_SECONDS
        left = tx.unscoped().applications.list(erased=False, limit=None)
    due = [one for one in left if one.deleted is not None and one.deleted <= limit]
    erased = 0
    for application in due:
        with suppress(Conflict), store.write() as tx:  # it may be restored at this moment
            _erase(tx, tx.scoped(application.tenant_id), application)
            erased += 1
    return erased


def _halt(tx: Transaction, tables: Tables, application: kept.Application) -> None:
    """Start nothing more for an application; what runs may finish."""
    job = jobs.current(tables, application.id)
    if job is not None and job.state in (JobState.RUNNING, JobState.RESTING):
        jobs.set_state(tx, job, JobState.PAUSED, "job.paused")
        jobs.cancel_waiting(tx, tables, job.id)
    requests.cancel(tx, tables, subject=application.id, state=TaskState.WAITING)


def _erase(tx: Transaction, tables: Tables, application: kept.Application) -> None:
    """Remove what only this application needs; raises ``Conflict`` where it was restored."""
    as_it_was = {"erased": False, "deleted": application.deleted}
    tables.applications.update(application.id, where=as_it_was, erased=True, live_model_id="")
    here = {"application_id": application.id}
    later = tx.now() + 1.0  # all that there is
    tasks = _end(tx, tables, application.id)
    attempts = tables.attempts.column("id", task_id=tasks)
    models = tables.models.column("id", application_id=application.id)
    tables.attempts.set_each("log", dict.fromkeys(attempts, ""))
    tables.attempts.set_each("trace", dict.fromkeys(attempts, ""))
    tables.tasks.set_each("result", {id: {} for id in tasks})
    for rows in (
        tables.models,
        tables.promotions,
        tables.gates,
        tables.work_items,
        tables.work_answers,
        tables.production_rows,
        tables.feedback,
        tables.rollouts,
        tables.retirements,
        tables.schedules,
        tables.retrievals,
        tables.goals,
        tables.suggestions,
        tables.shares,
        tables.invitations,
    ):
        rows.forget(later, **here)
    subjects = [application.id, *tasks, *models]
    tables.reports.forget(later, subject=subjects)
    tables.request_logs.forget(later, id=application.id)
    tables.rollout_rules.forget(later, id=application.id)
    tables.retention_rules.forget(later, id=application.id)
    tx.events.append("application.erased", application.id, {}, application.tenant_id)


def _end(tx: Transaction, tables: Tables, application_id: str) -> list[str]:
    """End what an application has under way for good; return the ids of all of its tasks."""
    searches = tables.jobs.by_id(application_id=application_id)
    for job in searches.values():
        if job.state not in ENDED_JOBS:
            jobs.set_state(tx, job, JobState.STOPPED, "job.stopped")
    tasks = set[str]()
    of_it: list[dict[str, Any]] = [{"job_id": list(searches)}, {"subject": application_id}]
    for equals in of_it:
        requests.cancel(tx, tables, **equals)
        tasks.update(tables.tasks.column("id", **equals))
    return sorted(tasks)


def _show(application: kept.Application) -> Deletion:
    since = application.deleted or 0.0
    return Deletion(
        application_id=application.id,
        name=application.name,
        deleted=since,
        until=since + UNDO_SECONDS,
    )
