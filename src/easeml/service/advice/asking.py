"""Asking a lifecycle tool about an application: about which models, rows and earlier state."""

from dataclasses import dataclass, replace

from easeml.contract.journey import FORECAST_IS_NOT_JUDGED
from easeml.contract.reports import ApplicationTool, NewReport, ToolParameter
from easeml.contract.resources import Page
from easeml.contract.states import VersionState
from easeml.contract.task_views import Task as TaskAnswer
from easeml.errors import Conflict, InvalidInput
from easeml.lifecycle.tool import INSTEAD_OF_SEVERAL, OF_ONE_ANSWER, Tool, all_tools, tool_named
from easeml.lifecycle.tool_parameters import Parameter, parameters_of
from easeml.service.access.caller import Caller
from easeml.service.access.idempotency import Once
from easeml.service.advice import asked_models, followed, test_row_disclosure, tools
from easeml.service.advice.tools import Question
from easeml.service.gates import kept
from easeml.service.limits import quotas
from easeml.service.production import labelled_rows
from easeml.service.storage import artefact_references
from easeml.service.tasks import requests, task_views
from easeml.store import Store, Tables, id_of
from easeml.store.records import Application, DatasetVersion, Report, TrainedModel

_LARGEST = 2**28  # bytes of rows of production
_OF_ROWS_ALONE = "feasibility"  # the tool that looks at no other rows
_INSTEAD = {asked_models.OF_CLASSES: "", OF_ONE_ANSWER: INSTEAD_OF_SEVERAL}  # of what never comes
_DEFAULT_MODELS = {
    "": "the model that serves",
    "one": "the model that serves",
    "pair": "the best that does not serve",
}


def ask(
    store: Store,
    caller: Caller,
    application_id: str,
    wish: NewReport,
    idempotency_key: str | None = None,
) -> TaskAnswer:
    """Write the task that asks a tool about an application's data, or return the one under way.

    Raises ``NotFound``, ``InvalidInput`` for a tool or a parameter that there is not, and for rows
    or a model that the tool needs or has no use for; ``Conflict`` while the data is not ready,
    nothing serves that the tool could ask about, or it is being asked something else that its next
    answer builds on; what ``quotas.check_computing`` raises.
    """
    asked = {"application": application_id, **wish.model_dump()}
    rows = _production(store, caller, application_id, wish)
    once = Once(caller, "reports", idempotency_key, asked)
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        earlier = once.earlier(tx)
        if earlier:
            return task_views.show_all(tables, [tables.tasks.get(earlier["id"])])[0]
        quotas.check_computing(tx, caller.tenant_id)
        tool = tool_named(wish.tool)
        configured = tool.configured(wish.parameters)
        version = tables.versions.get(application.version_id)
        if tool.check is not None:
            tool.check(configured, version.target_type == "number")
        why_not = _why_not(tables, application, version, tool)
        if why_not:
            remedy = _INSTEAD.get(why_not, "Ask again when that is there.")
            raise Conflict(why_not, where=application.id, remedy=remedy)
        if rows.digest:
            artefact_references.keep(tx, caller.tenant_id, rows.digest, rows.size)
        question = _question(tables, application, tool, wish, rows.digest)
        if "followed" in tool.may:
            known = followed.newest(store, tables, application, tool.name, id_of(question.model))
            question = replace(question, followed=known)
        _refuse_two_at_once(tables, application, tool, question)
        task = tools.request(tx, application, version, question)
        once.remember(tx, {"id": task.id})
        return task_views.show_all(tables, [task])[0]


@dataclass(frozen=True, slots=True)
class _Kept:
    """A file that was put to the artefacts: its digest, empty for none, and how many bytes it has."""

    digest: str = ""
    size: int = 0


def _production(store: Store, caller: Caller, application_id: str, wish: NewReport) -> _Kept:
    """Keep rows of production whose truth came as a file, for a tool that may look at them."""
    if wish.newer_id or "newer" not in tool_named(wish.tool).may:
        return _Kept()
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        model_id = wish.model_id or application.live_model_id
        content = labelled_rows.newest(tables, application, model_id)
    if not content:
        return _Kept()
    return _Kept(*store.artefacts.put_stream(caller.tenant_id, [content], _LARGEST))


def available(store: Store, caller: Caller, application_id: str) -> Page[ApplicationTool]:
    """Return every lifecycle tool, what it takes, and why it cannot be asked now.

    Raises ``NotFound``.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        version = tables.versions.get(application.version_id)
        items = [_show(tool, _why_not(tables, application, version, tool)) for tool in all_tools()]
        return Page(items=items, next=None)


def _show(tool: Tool, why_not: str) -> ApplicationTool:
    return ApplicationTool(
        name=tool.name,
        title=tool.title,
        about=tool.about,
        parameters=list(map(_parameter, parameters_of(tool.config))),
        takes_newer=tool.takes_newer,
        needs_newer="newer" in tool.needs,
        takes_model=asked_models.takes_one(tool),
        takes_against=asked_models.compares_any(tool),
        default_model=_DEFAULT_MODELS.get(tool.models, ""),
        why_not=why_not,
    )


def _parameter(one: Parameter) -> ToolParameter:
    return ToolParameter(
        name=one.name,
        type=one.type,
        about=one.about,
        unit=one.unit,
        default=one.default,
        least=one.least,
        most=one.most,
        choices=list(one.choices),
    )


def _why_not(tables: Tables, application: Application, version: DatasetVersion, tool: Tool) -> str:
    """Return what a tool lacks to be asked about an application; empty where it can be."""
    if version.state != VersionState.READY:
        return "The data is not prepared."
    if not tool.several and asked_models.has_several(tables, application):
        return OF_ONE_ANSWER
    if tool.name == _OF_ROWS_ALONE and application.rules.forecast:
        return f"Of a forecast it tells nothing: {FORECAST_IS_NOT_JUDGED}"
    lacking = _why_no_test_rows(tables, application, version, tool)
    return lacking or asked_models.why_none(tables, application, tool)


def _why_no_test_rows(
    tables: Tables, application: Application, version: DatasetVersion, tool: Tool
) -> str:
    if "test" not in tool.needs:
        return ""
    if not version.summary.rows_of("test"):
        return "It needs test rows, and the data has none."
    if kept.active(tables, application.id) is not None:
        return "It needs test rows, and these belong to the gate of the application."
    if version.summary.retired < _most_retired(tables, application):
        return "It needs test rows, and models have learned from these since they retired."
    return ""


def _most_retired(tables: Tables, application: Application) -> int:
    """Return how many test rows any version of an application has retired: it may go back."""
    versions = tables.versions.list(dataset_id=application.dataset_id, limit=None)
    own = [one for one in versions if one.operation.application_id == application.id]
    return max((one.summary.retired for one in own), default=0)


def _question(
    tables: Tables, application: Application, tool: Tool, wish: NewReport, production: str
) -> Question:
    newer = _newer(tables, tool, wish.newer_id)
    if wish.model_id and not asked_models.takes_one(tool):
        raise InvalidInput(f"{tool.name} is not asked about one model.", where="model_id")
    about = asked_models.chosen(tables, application, tool, wish)
    return Question(
        tool.name,
        wish.parameters,
        about.model,
        models=about.compared,
        newer=newer,
        newer_artefact=production,
        before=_before(tables, application, tool, about.model),
        elsewhere=_told_elsewhere(tables, application, tool),
    )


def _newer(tables: Tables, tool: Tool, version_id: str) -> DatasetVersion | None:
    """Return the upload with the newer rows, where one is named, and the tool looks at such."""
    remedy = "Upload a table with the columns of the data, and name its version as newer_id."
    if not version_id:
        if "newer" in tool.needs:
            raise InvalidInput(f"{tool.name} needs newer rows.", where="newer_id", remedy=remedy)
        return None
    if not tool.takes_newer:
        raise InvalidInput(f"{tool.name} looks at no newer rows.", where="newer_id")
    version = tables.versions.get(version_id)
    if not version.source_artefact:
        raise InvalidInput("This version is not an upload.", where="newer_id", remedy=remedy)
    return version


def _before(
    tables: Tables, application: Application, tool: Tool, model: TrainedModel | None
) -> str:
    """Return the id of the newest report that the tool goes on from; empty where there is none.

    What it knows is of test rows, or of all models, whichever was asked about; else of one model.
    """
    if not tool.keeps_state:
        return ""
    found = tables.reports.list(
        kind=tool.name, subject=application.id, newest_first=True, limit=None
    )
    usable = (report for report in found if _can_go_on_from(tool, model, report))
    return id_of(next(usable, None))


def _can_go_on_from(tool: Tool, model: TrainedModel | None, report: Report) -> bool:
    answered = tools.Answered.from_json(report.value)
    if not answered.state:
        return False
    is_of_any_model = "test" in tool.needs or tool.models == "all"
    if is_of_any_model:
        return True
    return model is not None and answered.model_id == model.id


def _told_elsewhere(tables: Tables, application: Application, tool: Tool) -> float:
    """Return what other tools, and gates, have told of the test rows so far, in nats."""
    if "test" not in tool.needs:
        return 0.0
    of_tools = test_row_disclosure.by_tools(tables, application.id, but=tool.name)
    return of_tools + kept.told(tables, application.id)


def _refuse_two_at_once(
    tables: Tables, application: Application, tool: Tool, question: Question
) -> None:
    """Refuse to ask a second thing while the first is open that its answer would build on.

    The same for tools that tell of the same test rows: what one told, the other has to count.
    """
    if not tool.keeps_state:
        return
    asked = tools.told_of(application, question)
    for task in requests.under_way(tables, tools.KIND, application.version_id):
        told = tools.Told.from_json(task.payload)
        is_same = asked.items() <= task.payload.items()
        if told.application_id != application.id or is_same:
            continue
        if _depend(tool, tool_named(told.tool)):
            message = f"'{tool_named(told.tool).title}' ({told.tool}) is being asked."
            raise Conflict(message, where=task.id, remedy="Ask again when it has answered.")


def _depend(one: Tool, other: Tool) -> bool:
    """Tell whether what one tool answers builds on, or counts, what the other answers."""
    if one.name == other.name:
        return True
    return "test" in one.needs and "test" in other.needs
