"""Lifecycle tools on live applications: asked by a user, answered by a task, kept as reports."""

import json

from easeml.contract import resources
from easeml.contract.reports import NewReport, Report
from easeml.contract.states import VersionState
from easeml.errors import Conflict
from easeml.lifecycle.tool import all_tools, tool_named
from easeml.service.access.caller import Caller
from easeml.service.access.idempotency import Once
from easeml.service.access.paging import page_records
from easeml.service.advice import reports
from easeml.service.tasks import requests, task_views
from easeml.service.tasks.logs import read_plain
from easeml.store import Store, Tables, Transaction, records
from easeml.store.records import Task

KIND = "advise"
_LARGEST_ANSWER = 5_000_000  # bytes


def ask(
    store: Store,
    caller: Caller,
    application_id: str,
    wish: NewReport,
    idempotency_key: str | None = None,
) -> resources.Task:
    """Write the task that asks a tool about an application's data.

    Raises ``NotFound``, ``InvalidInput`` for a tool or a parameter that there is not, ``Conflict``
    while the data is not ready.
    """
    asked = {"application": application_id, **wish.model_dump()}
    once = Once(caller, "reports", idempotency_key, asked)
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        earlier = once.earlier(tx)
        if earlier:
            return task_views.show_all(tables, [tables.tasks.get(earlier["id"])])[0]
        tool_named(wish.tool).configured(wish.parameters)
        version = tables.versions.get(application.version_id)
        if version.state != VersionState.READY:
            remedy = "Ask again when it is ready."
            raise Conflict("The data is not prepared.", where=application.id, remedy=remedy)
        task = requests.request(
            tx,
            caller.tenant_id,
            KIND,
            version.id,
            application_id=application.id,
            tool=wish.tool,
            parameters=wish.parameters,
        )
        once.remember(tx, {"id": task.id})
        return task_views.show_all(tables, [task])[0]


def record(tx: Transaction, task: Task, digest: str) -> records.Report:
    """Keep what ``task`` brought, under the name of its tool, and say so."""
    return keep(tx, task, digest, task.payload["application_id"], task.subject)


def keep(tx: Transaction, task: Task, digest: str, subject: str, version_id: str) -> records.Report:
    """Keep what ``task`` brought as a report about ``subject``, an application or an upload."""
    told = task.payload
    value = {
        "task_id": task.id,
        "parameters": told["parameters"],
        "plan": told.get("plan", {}),
        "artefact": digest,
    }
    return reports.keep(tx, task, subject, version_id, value, kind=told["tool"])


def list_page(
    store: Store,
    caller: Caller,
    application_id: str,
    *,
    after: str | None = None,
    limit: int = 50,
) -> resources.Page[Report]:
    """Return a page of what tools answered about an application, newest first.

    Raises ``NotFound``.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        return _page(store, tables, application.id, after, limit)


def list_version_page(
    store: Store, caller: Caller, version_id: str, *, after: str | None = None, limit: int = 50
) -> resources.Page[Report]:
    """Return a page of what tools answered about an upload, newest first.

    What was asked as an application was declared later has moved to it. Raises ``NotFound``.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        version = tables.versions.get(version_id)
        return _page(store, tables, version.id, after, limit)


def _page(
    store: Store, tables: Tables, subject: str, after: str | None, limit: int
) -> resources.Page[Report]:
    tools = [tool.name for tool in all_tools()]
    found, following = page_records(
        tables.reports, after, limit, newest_first=True, subject=subject, kind=tools
    )
    items = [_show(store, report) for report in found]
    return resources.Page(items=items, next=following)


def _show(store: Store, report: records.Report) -> Report:
    path = store.artefacts.path(report.tenant_id, report.value["artefact"])
    answer = json.loads(read_plain(path, 0, _LARGEST_ANSWER))
    is_of_upload = report.subject == report.version_id
    return Report(
        id=report.id,
        tool=report.kind,
        title=tool_named(report.kind).title,
        task_id=report.value.get("task_id", ""),
        application_id="" if is_of_upload else report.subject,
        version_id=report.version_id,
        parameters=report.value["parameters"],
        created=report.created,
        **answer,
    )
