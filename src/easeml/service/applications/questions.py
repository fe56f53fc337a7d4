"""Questions before Start: a lifecycle tool is asked about an upload as it would be declared.

The answer is a report about the upload; when an application is declared just so, it moves there.
"""

from collections.abc import Mapping

from easeml.contract.reports import NewVersionReport
from easeml.contract.task_views import Task as TaskAnswer
from easeml.errors import Conflict
from easeml.lifecycle.tool import INSTEAD_OF_SEVERAL, OF_ONE_ANSWER, tool_named
from easeml.service.access.caller import Caller
from easeml.service.access.idempotency import Once
from easeml.service.advice import tools
from easeml.service.applications import declaration_plan
from easeml.service.knowledge import knowledge_base
from easeml.service.tasks import requests, task_views
from easeml.store import Store, Tables, Transaction
from easeml.store.records import Application, DatasetVersion, Json, Task
from easeml.store.shapes import Operation, OperationName


def ask(
    store: Store,
    caller: Caller,
    version_id: str,
    wish: NewVersionReport,
    idempotency_key: str | None = None,
) -> TaskAnswer:
    """Write the task that asks a tool about an upload.

    Raises ``InvalidInput`` for a tool or a parameter that there is not, and what declaring an
    application raises.
    """
    once = Once(
        caller, "reports", idempotency_key, {"version": version_id, **wish.model_dump(mode="json")}
    )
    declaration = wish.declaration.model_copy(update={"version_id": version_id})
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        tables.versions.get(version_id)
        earlier = once.earlier(tx)
        if earlier:
            return task_views.show_all(tables, [tables.tasks.get(earlier["id"])])[0]
        tool = tool_named(wish.tool)
        tool.configured(wish.parameters)
        if tool.asks_about_a_model:
            raise Conflict(f"{tool.name} is asked about a model, and there is none before Start.")
        registry = knowledge_base.of_tenant(tx, caller.tenant_id)
        plan = declaration_plan.plan(tables, declaration, registry)
        target = plan.columns.schema_out
        several = {*target.labels_of_rows, *target.parts}
        if several and not tool.several:
            raise Conflict(OF_ONE_ANSWER, where=version_id, remedy=INSTEAD_OF_SEVERAL)
        told = {
            "plan": declaration_plan.told(plan),
            "tool": tool.name,
            "parameters": wish.parameters,
        }
        task = requests.request_once(tx, caller.tenant_id, tools.KIND, version_id, told)
        once.remember(tx, {"id": task.id})
        return task_views.show_all(tables, [task])[0]


def record(tx: Transaction, task: Task, digests: Mapping[str, str]) -> None:
    """Keep the answer: about the application, where one was started meanwhile."""
    tables = tx.scoped(task.tenant_id)
    upload = tables.versions.get(task.subject)
    started = _started(tables, upload, tools.Told.from_json(task.payload).plan)
    if started is None:
        tools.keep(tx, task, digests, upload.id, upload.id)
    else:
        tools.keep(tx, task, digests, started.id, started.version_id)


def take_over(tx: Transaction, application: Application) -> None:
    """Move to a new application what was answered about its upload, declared as it is."""
    tables = tx.scoped(application.tenant_id)
    version = tables.versions.get(application.version_id)
    for report in tables.reports.list(subject=version.parents[0], limit=None):
        if _is_declared_as(version, tools.Answered.from_json(report.value).plan):
            tables.reports.update(report.id, subject=application.id, version_id=version.id)


def _started(tables: Tables, upload: DatasetVersion, plan: Json) -> Application | None:
    """Return the newest application whose data still is the upload, declared as ``plan`` says."""
    applications = tables.applications.list(
        dataset_id=upload.dataset_id, newest_first=True, limit=None
    )
    for application in applications:
        version = tables.versions.get(application.version_id)
        if version.parents == [upload.id] and _is_declared_as(version, plan):
            return application
    return None


def _is_declared_as(version: DatasetVersion, plan: Json) -> bool:
    return version.operation == Operation(OperationName.DECLARE, plan)
