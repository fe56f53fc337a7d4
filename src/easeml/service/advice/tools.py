"""Lifecycle tools on live applications: asked by a user, answered by a task, kept as reports."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from easeml.contract.parameters import After, Limit
from easeml.contract.reports import Report, ReportNumber
from easeml.contract.resources import Page
from easeml.lifecycle.tool import all_tools, tool_named
from easeml.service.access.caller import Caller
from easeml.service.access.paging import page_records
from easeml.service.advice import reports
from easeml.service.tasks import requests
from easeml.service.tasks.logs import read_plain
from easeml.store import Store, Tables, Transaction, grouped, id_of, records
from easeml.store.records import Application, DatasetVersion, Json, Task, TrainedModel
from easeml.store.shapes import Shape

KIND = "advise"
_LARGEST_ANSWER = 5_000_000  # bytes


@dataclass(frozen=True, slots=True)
class Late:
    """Rows that a tool was asked about before, whose answers came since.

    ``artefact``: a CSV file of them, empty for none; ``looks``: how many of its rows each look saw,
    by the number of the look, ``roles``: a letter a row. ``drawn``: rows, here and among the newer
    ones, that were said to be drawn at random. ``corrected``: answers that were changed after a
    look counted them. ``told_until``: the newest answer that is known to the question, by its time.
    """

    artefact: str = ""
    looks: dict[str, int] = field(default_factory=dict)
    roles: str = ""
    drawn: list[Json] = field(default_factory=list)
    corrected: int = 0
    told_until: float = 0.0

    def told(self) -> Json:
        """Return what a task is told of them; nothing where there is nothing to tell."""
        if self == Late():
            return {}
        return {
            "late_artefact": self.artefact,
            "late_looks": self.looks,
            "late_roles": self.roles,
            "drawn": self.drawn,
            "corrected": self.corrected,
            "told_until": self.told_until,
        }


@dataclass(frozen=True, slots=True)
class Question:
    """What a tool is asked, about which model where it needs one, and for how long at most.

    ``models``: ids of those that are compared, by name. ``newer``: the upload with rows that came
    later, or ``newer_artefact``: a CSV file of them. ``late``: earlier ones whose answers came
    since. ``before``: the report whose state it goes on from. ``elsewhere``: what other tools told
    of the test rows, in nats. ``followed``: remedies of earlier answers that were followed.
    """

    tool: str
    parameters: Json
    model: TrainedModel | None = None
    seconds: float = 60.0
    models: dict[str, str] = field(default_factory=dict)
    newer: DatasetVersion | None = None
    newer_artefact: str = ""
    late: Late = field(default_factory=Late)
    before: str = ""
    elsewhere: float = 0.0
    followed: list[Json] = field(default_factory=list)


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
    newer_id: str = ""
    models: Json = field(default_factory=dict)  # ids by the name that the tool knows


@dataclass(frozen=True, slots=True)
class Answered(Shape):
    """What the record of a report says: what was asked, and where the answer is.

    ``artefact``, ``rows``: digests of the answer and of what was said of single rows.
    ``state``: the digest of what the tool goes on from. ``told``: of test rows, in nats.
    ``newer_id``: the upload with rows that came later. ``against_id``: the model that the one asked
    about was compared with.
    """

    task_id: str = ""
    parameters: Json = field(default_factory=dict)
    model_id: str = ""
    plan: Json = field(default_factory=dict)
    artefact: str = ""
    rows: str = ""
    state: str = ""
    told: float = 0.0
    newer_id: str = ""
    against_id: str = ""
    followed: list[int] = field(default_factory=list)  # remedies, from 1


def request(
    tx: Transaction, application: Application, version: DatasetVersion, question: Question
) -> Task:
    """Write the task that asks ``question``, or return the one under way that asks the same."""
    told = told_of(application, question)
    return requests.request_once(tx, application.tenant_id, KIND, version.id, told)


def told_of(application: Application, question: Question) -> Json:
    """Return what the task is told that asks ``question``."""
    model = question.model
    return {
        "application_id": application.id,
        "tool": question.tool,
        "parameters": question.parameters,
        "model_id": id_of(model),
        "objective": application.objective if model else "",
        "seconds": question.seconds,
        "models": question.models,
        "newer_id": id_of(question.newer),
        "newer_name": _name_of_newer(question),
        "newer_artefact": question.newer_artefact,
        "before": question.before,
        "elsewhere": question.elsewhere,
        "followed": question.followed,
        **question.late.told(),
    }


def _name_of_newer(question: Question) -> str:
    """Return the name of the file of newer rows, whose ending says how it is read."""
    if question.newer is not None:
        filename = question.newer.operation.told.get("filename")
        return str(filename or "rows.csv")
    return "production.csv" if question.newer_artefact else ""


def _names() -> list[str]:
    return [tool.name for tool in all_tools()]


def is_answer(report: records.Report) -> bool:
    """Return whether a report is what a tool answered; its value is an ``Answered`` then."""
    return report.kind in _names()


def asks(task: Task, tool: str) -> bool:
    """Tell whether a task asks the tool of this name."""
    return task.spec_kind == KIND and Told.from_json(task.payload).tool == tool


def about_model(tables: Tables, model: TrainedModel) -> list[records.Report]:
    """Return what tools answered about a model, newest first."""
    found = tables.reports.list(
        kind=_names(), subject=model.application_id, newest_first=True, limit=None
    )
    return [report for report in found if Answered.from_json(report.value).model_id == model.id]


def state_of(report: records.Report) -> str:
    """Return the digest of the state that a tool left with a report."""
    return Answered.from_json(report.value).state


def record(tx: Transaction, task: Task, digests: Mapping[str, str], told: float) -> records.Report:
    """Keep what ``task`` brought, under the name of its tool, and say so.

    ``told``: what the tool has told of the test rows by now, in nats.
    """
    application_id = Told.from_json(task.payload).application_id
    return keep(tx, task, digests, application_id, task.subject, told)


def keep(
    tx: Transaction,
    task: Task,
    digests: Mapping[str, str],
    subject: str,
    version_id: str,
    of_test_rows: float = 0.0,
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
        digests.get("state", ""),
        of_test_rows,
        told.newer_id,
        str(told.models.get("old", "")),
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
        return Page(items=show_all(store, found), next=None)


def of_task(tables: Tables, task: Task, model: TrainedModel | None) -> list[records.Report]:
    """Return what tools answered about the model that a task trained, or in the task itself."""
    if model is not None:
        return about_model(tables, model)
    if task.spec_kind != KIND:
        return []
    told = task.payload
    subjects = [told["application_id"], task.subject]
    found = tables.reports.list(kind=told["tool"], subject=subjects, limit=None)
    return [report for report in found if Answered.from_json(report.value).task_id == task.id]


def newest_of_each_tool(tables: Tables, subject: str) -> list[records.Report]:
    """Return the newest answer of each tool about an application or an upload, newest first.

    Only the newest 50 answers are looked at.
    """
    found = tables.reports.list(kind=_names(), subject=subject, newest_first=True, limit=50)
    of_each = grouped(found, lambda report: report.kind)
    return [reports[0] for reports in of_each.values()]


def newest(store: Store, tables: Tables, subject: str, tool: str) -> Report | None:
    """Return what a tool answered last about an application; None before."""
    found = tables.reports.newest(kind=tool, subject=subject)
    return None if found is None else show(store, found)


def _page(
    store: Store, tables: Tables, subject: str, after: str | None, limit: int
) -> Page[Report]:
    found, following = page_records(
        tables.reports, after, limit, newest_first=True, subject=subject, kind=_names()
    )
    return Page(items=show_all(store, found), next=following)


def show_all(store: Store, reports: Iterable[records.Report]) -> list[Report]:
    """Return reports with what their tools answered, in their order."""
    return [show(store, report) for report in reports]


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
        against_id=answered.against_id,
        parameters=answered.parameters,
        created=report.created,
        **_answer(store, report),
    )


def numbers_of(report: Report) -> dict[str, ReportNumber]:
    """Return what a tool counted and measured, by name."""
    return {number.name: number for number in report.numbers}


def _answer(store: Store, report: records.Report) -> Json:
    """Return what a tool said. Answers of the release before had one figure, or stood in the row.

    A number that overflowed is none: it is left out, and the rest is shown.
    """
    if "answer" in report.value:
        return report.value["answer"]
    path = store.artefacts.path(report.tenant_id, Answered.from_json(report.value).artefact)
    answer = json.loads(read_plain(path, 0, _LARGEST_ANSWER))
    answer["numbers"] = [one for one in answer.get("numbers", []) if one["value"] is not None]
    answer["remedies"] = list(map(_remedy, answer.get("remedies", [])))
    figure = answer.pop("figure", None)
    if figure is not None:
        answer["figures"] = [figure]
    return answer


def _remedy(told: Json) -> Json:
    """Return a remedy as it is shown: what is asked of single cells is counted."""
    shown = {**told, "items": len(told["items"])}
    for told_to_the_service in ("conditions", "instead", "judged", "rows", "mistakes", "tolerance"):
        shown.pop(told_to_the_service, None)
    return shown
