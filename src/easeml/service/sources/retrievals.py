"""Retrievals: each time that a data set was fetched again, by hand or on a schedule, and how it ended."""

from dataclasses import replace
from typing import Any

from easeml.contract.parameters import After, Limit
from easeml.contract.resources import Page
from easeml.contract.sources import Retrieval as RetrievalAnswer
from easeml.contract.sources import Source
from easeml.contract.states import TASKS_UNDER_WAY, RetrievalState, SourceAction
from easeml.ids import new_id
from easeml.service.access.caller import Caller
from easeml.service.access.paging import page_of
from easeml.service.datasets import datasets
from easeml.service.sources import adding, telling
from easeml.service.sources.origins import origin_of
from easeml.settings import Settings
from easeml.store import Store, Transaction
from easeml.store.records import Retrieval, Task

_SHOWN = 10


def get(store: Store, caller: Caller, retrieval_id: str) -> RetrievalAnswer:
    """Return one retrieval; raises ``NotFound``."""
    with store.read() as tx:
        return show(tx.scoped(caller.tenant_id).retrievals.get(retrieval_id))


def list_page(
    store: Store, caller: Caller, dataset_id: str, *, after: After = None, limit: Limit = 50
) -> Page[RetrievalAnswer]:
    """Return a page of the retrievals of a data set, newest first; raises ``NotFound``."""
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        tables.datasets.get(dataset_id)
        return page_of(
            tables.retrievals, show, after, limit, newest_first=True, dataset_id=dataset_id
        )


def source(store: Store, caller: Caller, application_id: str) -> Source:
    """Return where an application's data set came from, and how it was fetched again.

    Raises ``NotFound``.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        dataset_id = tables.applications.get(application_id).dataset_id
        origin = datasets.newest_upload(tables, dataset_id).operation.origin
        here = {"dataset_id": dataset_id, "action": SourceAction.REFRESH}
        newest = tables.retrievals.list(newest_first=True, limit=_SHOWN, **here)
        return Source(
            address=origin.get("address", ""),
            query=origin.get("query", ""),
            running=any(retrieval.state == RetrievalState.RUNNING for retrieval in newest),
            retrievals=list(map(show, newest)),
        )


def start(tx: Transaction, settings: Settings, retrieval: Retrieval) -> Retrieval:
    """Have the source of a retrieval's data set fetched.

    Raises ``Conflict`` for a data set that came as a file, and as ``adding.check_may_fetch``.
    """
    tables = tx.scoped(retrieval.tenant_id)
    origin = origin_of(tables, retrieval.dataset_id)
    adding.check_may_fetch(tx, settings, retrieval.tenant_id, origin)
    made = tables.retrievals.add(retrieval)
    task = adding.request_fetch(tx, retrieval.tenant_id, made.id, origin)
    return tables.retrievals.update(made.id, task_id=task.id)


def new_retrieval(
    tenant_id: str, action: SourceAction, dataset_id: str, application_id: str = ""
) -> Retrieval:
    """Return a retrieval that nobody has started yet."""
    return Retrieval(new_id("ret"), tenant_id, action, dataset_id, application_id)


def add(tx: Transaction, retrieval: Retrieval, schedule_id: str) -> Retrieval:
    """Keep a retrieval of a schedule that did not even start."""
    return tx.scoped(retrieval.tenant_id).retrievals.add(
        replace(retrieval, schedule_id=schedule_id)
    )


def under_way(tx: Transaction, tenant_id: str, **equals: Any) -> Retrieval | None:
    """Return the retrieval with these values that is running, if any; one whose task is lost is ended."""
    tables = tx.scoped(tenant_id)
    for retrieval in tables.retrievals.list(state=RetrievalState.RUNNING, limit=None, **equals):
        task = tables.tasks.find(id=retrieval.task_id)
        if task is not None and task.state in TASKS_UNDER_WAY:
            return retrieval
        end(tx, retrieval, RetrievalState.FAILED, note="Its task was lost.")
    return None


def end(
    tx: Transaction,
    retrieval: Retrieval,
    state: RetrievalState,
    *,
    note: str = "",
    version_id: str = "",
) -> None:
    """Keep how a retrieval ended, and tell of it what people should know."""
    changes = {"state": state, "note": note, "version_id": version_id, "ended": tx.now()}
    ended = tx.scoped(retrieval.tenant_id).retrievals.update(retrieval.id, **changes)
    telling.ended(tx, ended)


def task_failed(tx: Transaction, task: Task) -> None:
    """Let the retrieval end that a task was for, if there is one."""
    retrieval = tx.scoped(task.tenant_id).retrievals.find(task_id=task.id)
    if retrieval is not None and retrieval.state == RetrievalState.RUNNING:
        end(tx, retrieval, RetrievalState.FAILED, note=task.error or "Its task was cancelled.")


def show(retrieval: Retrieval) -> RetrievalAnswer:
    """Return the resource of a retrieval."""
    return RetrievalAnswer(
        id=retrieval.id,
        action=retrieval.action,
        dataset_id=retrieval.dataset_id,
        application_id=retrieval.application_id,
        schedule_id=retrieval.schedule_id,
        state=retrieval.state,
        task_id=retrieval.task_id,
        version_id=retrieval.version_id,
        note=retrieval.note,
        created=retrieval.created,
        ended=retrieval.ended,
    )
