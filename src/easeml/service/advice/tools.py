"""Lifecycle tools on live applications: asked by a user, answered by a task, kept as reports."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from easeml.contract.parameters import After, Limit
from easeml.contract.reports import NewReport, Report
from easeml.contract.resources import Page
from easeml.contract.states import VersionState
from easeml.contract.task_views import Task as TaskAnswer
from easeml.errors import Conflict
from easeml.lifecycle.tool import Tool, all_tools, tool_named
from easeml.service.access.caller import Caller
from easeml.service.access.idempotency import Once
from easeml.service.access.paging import page_records
from easeml.service.advice import reports
from easeml.service.tasks import requests, task_views
from easeml.service.tasks.logs import read_plain
from easeml.store import Store, Tables, Transaction, records
from easeml.store.records import Application, DatasetVersion, Json, Task, TrainedModel
from easeml.store.shapes import Shape

KIND = "advise"
_LARGEST_ANSWER = 5_000_000  # bytes


@dataclass(frozen=True, slots=True)
class Question:
    """What a tool is asked, about which model where it needs one, and for how long at most."""

    tool: str
    parameters: Json
    model: TrainedModel | None = None
    seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class Told(Shape):
    """What a task is told.

    ``plan``: where an upload is asked about, the declaration that is applied to it first.
    """

    tool: str
    parameters: Json
    application_id: str = ""
    model_id: str = ""
    plan: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answered(Shape):
    """What the record of a report says: what was asked, and where the answer is.

    ``artefact``, ``rows``: digests of the answer and of what was said of single rows.
    """

    task_id: str = ""
    parameters: Json = field(default_factory=dict)
    model_id: str = ""
    plan: Json = field(default_factory=dict)
    artefact: str = ""
    rows: str = ""


def ask(
    store: Store,
    caller: Caller,
    application_id: str,
    wish: NewReport,
    idempotency_key: str | None = None,
) -> TaskAnswer:
    """Write the task that asks a tool about an application's data, or return the one under way.

    Raises ``NotFound``, ``InvalidInput`` for a tool or a parameter that there is not, ``Conflict``
    while the data is not ready, or nothing serves that the tool could ask about.
    """
    asked = {"application": application_id, **wish.model_dump()}
    once = Once(caller, "reports", idempotency_key, asked)
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        earlier = once.earlier(tx)
        if earlier:
            return task_views.show_all(tables, [tables.tasks.get(earlier["id"])])[0]
        tool = tool_named(wish.tool)
        tool.configured(wish.parameters)
        version = tables.versions.get(application.version_id)
        if version.state != VersionState.READY:
            remedy = "Ask again when it is ready."
            raise Conflict("The data is not prepared.", where=application.id, remedy=remedy)
        model = _live_model(tables, application, tool)
        task = request(tx, application, version, Question(tool.name, wish.parameters, model))
        once.remember(tx, {"id": task.id})
        return task_views.show_all(tables, [task])[0]


def request(
    tx: Transaction, application: Application, version: DatasetVersion, question: Question
) -> Task:
    """Write the task that asks ``question``, or return the one under way that asks the same."""
    model = question.model
    told = {
        "application_id": application.id,
        "tool": question.tool,
        "parameters": question.parameters,
        "model_id": model.id if model else "",
        "objective": application.objective if model else "",
        "seconds": question.seconds,
    }
    return request_once(tx, application.tenant_id, version.id, told)


def request_once(tx: Transaction, tenant_id: str, version_id: str, told: Json) -> Task:
    """Write a task that is told this, or return the one under way: two clicks ask once."""
    for task in requests.under_way(tx.scoped(tenant_id), KIND, version_id):
        if told.items() <= task.payload.items():
            return task
    return requests.request(tx, tenant_id, KIND, version_id, **told)


def about_model(tables: Tables, model: TrainedModel) -> list[records.Report]:
    """Return what tools answered about a model, newest first."""
    names = [tool.name for tool in all_tools()]
    found = tables.reports.list(
        kind=names, subject=model.application_id, newest_first=True, limit=None
    )
    return [report for report in found if Answered.from_json(report.value).model_id == model.id]


def _live_model(tables: Tables, application: Application, tool: Tool) -> TrainedModel | None:
    if not tool.uses_a_model:
        return None
    if application.live_model_id:
        return tables.models.get(application.live_model_id)
    remedy = "Ask again when the first model is trained."
    message = f"{tool.name} is asked about the model that serves, and none does yet."
    raise Conflict(message, where=application.id, remedy=remedy)


def record(tx: Transaction, task: Task, digests: Mapping[str, str]) -> records.Report:
    """Keep what ``task`` brought, under the name of its tool, and say so."""
    application_id = Told.from_json(task.payload).application_id
    return keep(tx, task, digests, application_id, task.subject)


def keep(
    tx: Transaction, task: Task, digests: Mapping[str, str], subject: str, version_id: str
) -> records.Report:
    """Keep what ``task`` brought as a report about ``subject``, an application or an upload."""
    told = Told.from_json(task.payload)
    answered = Answered(
        task.id,
        told.parameters,
        told.model_id,
        told.plan,
        digests["answer"],
        digests.get("rows", ""),
    )
    return reports.keep(tx, task, subject, version_id, answered.to_json(), kind=told.tool)


def list_page(
    store: Store,
    caller: Caller,
    application_id: str,
    *,
    after: After = None,
    limit: Limit = 50,
) -> Page[Report]:
    """Return a page of what tools answered about an application, newest first.

    Raises ``NotFound``.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        return _page(store, tables, application.id, after, limit)


def list_version_page(
    store: Store, caller: Caller, version_id: str, *, after: After = None, limit: Limit = 50
) -> Page[Report]:
    """Return a page of what tools answered about an upload, newest first.

    What was asked as an application was declared later has moved to it. Raises ``NotFound``.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        version = tables.versions.get(version_id)
        return _page(store, tables, version.id, after, limit)


def list_task_page(store: Store, caller: Caller, task_id: str) -> Page[Report]:
    """Return what tools answered about the model that a task trained, or in the task itself.

    Raises ``NotFound``.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        task = tables.tasks.get(task_id)
        model = tables.models.find(task_id=task.id)
        found = of_task(tables, task, model)
        return Page(items=[show(store, report) for report in found], next=None)


def of_task(tables: Tables, task: Task, model: TrainedModel | None) -> list[records.Report]:
    """Return what tools answered about the model that a task trained, or in the task itself."""
    if model is not None:
        return about_model(tables, model)
    if task.spec_kind != KIND:
        return []
    told = task.payload
    subjects = [subject for subject in (told["application_id"], task.subject) if subject]
    found = tables.reports.list(kind=told["tool"], subject=subjects, limit=None)
    return [report for report in found if Answered.from_json(report.value).task_id == task.id]


def newest_of_each_tool(tables: Tables, subject: str) -> list[records.Report]:
    """Return the newest answer of each tool about an application or an upload, newest first.

    Only the newest 50 answers are looked at.
    """
    names = [tool.name for tool in all_tools()]
    found = tables.reports.list(kind=names, subject=subject, newest_first=True, limit=50)
    newest: dict[str, records.Report] = {}
    for report in found:
        newest.setdefault(report.kind, report)
    return list(newest.values())


def _page(
    store: Store, tables: Tables, subject: str, after: str | None, limit: int
) -> Page[Report]:
    tools = [tool.name for tool in all_tools()]
    found, following = page_records(
        tables.reports, after, limit, newest_first=True, subject=subject, kind=tools
    )
    items = [show(store, report) for report in found]
    return Page(items=items, next=following)


def show(store: Store, report: records.Report) -> Report:
    """Return a report with what its tool answered."""
    answered = Answered.from_json(report.value)
    is_of_upload = report.subject == report.version_id
    return Report(
        id=report.id,
        tool=report.kind,
        title=tool_named(report.kind).title,
        task_id=answered.task_id,
        application_id="" if is_of_upload else report.subject,
        version_id=report.version_id,
        model_id=answered.model_id,
        parameters=answered.parameters,
        created=report.created,
        **_answer(store, report),
    )


def _answer(store: Store, report: records.Report) -> Json:
    """Return what a tool said. Answers of the release before had one figure, or stood in the row."""
    if "answer" in report.value:
        return report.value["answer"]
    path = store.artefacts.path(report.tenant_id, Answered.from_json(report.value).artefact)
    answer = json.loads(read_plain(path, 0, _LARGEST_ANSWER))
    figure = answer.pop("figure", None)
    if figure is not None:
        answer["figures"] = [figure]
    return answer
