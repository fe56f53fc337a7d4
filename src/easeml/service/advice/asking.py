"""Asking a lifecycle tool about an application: about which models, rows and earlier state."""

from dataclasses import dataclass

from easeml.contract.reports import ApplicationTool, NewReport, ToolParameter
from easeml.contract.resources import Page
from easeml.contract.states import VersionState
from easeml.contract.task_views import Task as TaskAnswer
from easeml.errors import Conflict, InvalidInput
from easeml.lifecycle.tool import Tool, all_tools, tool_named
from easeml.lifecycle.tool_parameters import Parameter, parameters_of
from easeml.service.access.caller import Caller
from easeml.service.access.idempotency import Once
from easeml.service.advice import told, tools
from easeml.service.advice.tools import Question
from easeml.service.gates import kept
from easeml.service.limits import quotas
from easeml.service.production import labelled_rows
from easeml.service.storage import artefact_references
from easeml.service.tasks import requests, task_views
from easeml.store import Store, Tables
from easeml.store.records import Application, DatasetVersion, Report, TrainedModel

_LARGEST = 2**28  # bytes of rows of production
MOST_MODELS = 20  # that a tool compares at once
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
        tool.configured(wish.parameters)
        version = tables.versions.get(application.version_id)
        why_not = _why_not(tables, application, version, tool)
        if why_not:
            raise Conflict(why_not, where=application.id, remedy="Ask again when that is there.")
        if rows is not None:
            artefact_references.keep(tx, caller.tenant_id, rows.digest, rows.size)
        production = rows.digest if rows is not None else ""
        question = _question(tables, application, tool, wish, production)
        _refuse_two_at_once(tables, application, tool, question)
        task = tools.request(tx, application, version, question)
        once.remember(tx, {"id": task.id})
        return task_views.show_all(tables, [task])[0]


@dataclass(frozen=True, slots=True)
class _Kept:
    """A file that was put to the artefacts: its digest, and how many bytes it has."""

    digest: str
    size: int


def _production(store: Store, caller: Caller, application_id: str, wish: NewReport) -> _Kept | None:
    """Keep rows of production whose truth came as a file, for a tool that may look at them."""
    if wish.newer_id or "newer" not in tool_named(wish.tool).may:
        return None
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        model_id = wish.model_id or application.live_model_id
        content = labelled_rows.newest(tables, application, model_id)
    if not content:
        return None
    return _Kept(*store.artefacts.put_stream(caller.tenant_id, [content], _LARGEST))


def available(store: Store, caller: Caller, application_id: str) -> Page[ApplicationTool]:
    """Return every lifecycle tool, what it takes, and why it cannot be asked now.

    Raises ``NotFound``.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        version = tables.versions.get(application.version_id)
        items = []
        for tool in all_tools():
            why_not = _why_not(tables, application, version, tool)
            items.append(_show(tool, why_not))
        return Page(items=items, next=None)


def _show(tool: Tool, why_not: str) -> ApplicationTool:
    return ApplicationTool(
        name=tool.name,
        title=tool.title,
        about=tool.about,
        parameters=[_parameter(one) for one in parameters_of(tool.config)],
        takes_newer=tool.takes_newer,
        needs_newer="newer" in tool.needs,
        takes_model=tool.asks_about_a_model and tool.models != "all",
        takes_against=_compares_any(tool),
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
    if "test" in tool.needs and not version.summary.rows_of("test"):
        return f"{tool.name} needs test rows, and the data has none."
    if "test" in tool.needs and kept.active(tables, application.id) is not None:
        return f"{tool.name} needs test rows, and these belong to the gate of the application."
    if tool.uses_a_model and not application.live_model_id:
        return f"{tool.name} is asked about the model that serves, and none does yet."
    if tool.models in ("pair", "all"):
        return _why_no_comparison(tables, application, tool)
    return ""


def _why_no_comparison(tables: Tables, application: Application, tool: Tool) -> str:
    if len(_models(tables, application)) < 2:
        return f"{tool.name} compares trained models, and there is one only."
    if tool.models == "all" and len(_eligible(tables, application)) < 2:
        return f"{tool.name} chooses among models that passed the gate, and there is one only."
    return ""


def _question(
    tables: Tables, application: Application, tool: Tool, wish: NewReport, production: str
) -> Question:
    if wish.newer_id and not tool.takes_newer:
        raise InvalidInput(f"{tool.name} looks at no newer rows.", where="newer_id")
    if wish.model_id and not (tool.asks_about_a_model and tool.models != "all"):
        raise InvalidInput(f"{tool.name} is not asked about one model.", where="model_id")
    newer = _newer(tables, tool, wish.newer_id)
    against = _against(tables, application, tool, wish.against_id)
    model = _model(tables, application, tool, wish.model_id, against)
    before = _before(tables, application, tool, model)
    return Question(
        tool.name,
        wish.parameters,
        model,
        models=_compared(tables, application, tool, model, against),
        newer=newer,
        newer_artefact=production,
        before=before.id if before else "",
        elsewhere=_told_elsewhere(tables, application, tool),
    )


def _newer(tables: Tables, tool: Tool, version_id: str) -> DatasetVersion | None:
    """Return the upload with the newer rows, where the tool looks at such."""
    if not tool.takes_newer:
        return None
    remedy = "Upload a table with the columns of the data, and name its version as newer_id."
    if not version_id:
        if "newer" in tool.may:
            return None
        raise InvalidInput(f"{tool.name} needs newer rows.", where="newer_id", remedy=remedy)
    version = tables.versions.get(version_id)
    if not version.source_artefact:
        raise InvalidInput("This version is no upload.", where="newer_id", remedy=remedy)
    return version


def _compares_any(tool: Tool) -> bool:
    """Tell whether a tool compares any two models.

    One that tells of test rows is asked about what serves alone: its ledger is of that series.
    """
    return tool.models == "pair" and "test" not in tool.needs


def _against(tables: Tables, application: Application, tool: Tool, model_id: str) -> str:
    """Return the id of the model that another is compared with: the one that serves by default."""
    if not model_id:
        return application.live_model_id
    if not _compares_any(tool):
        raise InvalidInput(
            f"{tool.name} does not compare a model with any other.",
            where="against_id",
            remedy="Leave it out; the tool difference compares any two.",
        )
    return _trained(tables, application, model_id).id


def _model(
    tables: Tables, application: Application, tool: Tool, model_id: str, against: str
) -> TrainedModel | None:
    """Return the model in question: the one asked for, the one that serves, or its best rival."""
    if not tool.uses_a_model or tool.models == "all":
        return None
    if tool.models != "pair":
        return _trained(tables, application, model_id or application.live_model_id)
    if model_id == against:
        what = "serves already" if against == application.live_model_id else "is the same"
        raise InvalidInput(f"This model {what}.", where="model_id", remedy="Name another.")
    if model_id:
        return _trained(tables, application, model_id)
    others = [one for one in _models(tables, application) if one.id != against]
    return others[0]


def _trained(tables: Tables, application: Application, model_id: str) -> TrainedModel:
    model = tables.models.get(model_id)
    if model.application_id != application.id:
        raise InvalidInput("The model is of another application.", where="model_id")
    if model.error:
        raise Conflict(f"The model cannot be loaded: {model.error}", where=model.id)
    return model


def _models(tables: Tables, application: Application) -> list[TrainedModel]:
    """Return the trained models that can be loaded, the best on validation rows first."""
    found = tables.models.list(application_id=application.id, error="", limit=None)
    return sorted(found, key=lambda model: (-model.quality, model.id))[:MOST_MODELS]


def _eligible(tables: Tables, application: Application) -> list[TrainedModel]:
    """Return the models that could be chosen to serve, the best on validation rows first.

    Where the application has a gate, those are the ones that served before: what was not proven
    may not serve.
    """
    if kept.active(tables, application.id) is None:
        return _models(tables, application)
    found = tables.models.list(application_id=application.id, error="", limit=None)
    served = [one for one in found if kept.was_live(tables, application, one.id)]
    return sorted(served, key=lambda model: (-model.quality, model.id))[:MOST_MODELS]


def _compared(
    tables: Tables, application: Application, tool: Tool, model: TrainedModel | None, against: str
) -> dict[str, str]:
    """Return the models whose predictions are compared, by the names that the tool knows."""
    if tool.models == "all":
        models = _eligible(tables, application)
        return {f"{one.name} ({one.id})": one.id for one in models}
    if model is None or not tool.models:
        return {}
    if tool.models == "pair":
        return {"old": against, "new": model.id}
    return {"model": model.id}


def _before(
    tables: Tables, application: Application, tool: Tool, model: TrainedModel | None
) -> Report | None:
    """Return the newest report that the tool goes on from.

    What it knows is of test rows, or of all models, whichever was asked about; else of one model.
    """
    if not tool.keeps_state:
        return None
    found = tables.reports.list(
        kind=tool.name, subject=application.id, newest_first=True, limit=None
    )
    for report in found:
        answered = tools.Answered.from_json(report.value)
        is_of_model = model is not None and answered.model_id == model.id
        if answered.state and (is_of_model or "test" in tool.needs or tool.models == "all"):
            return report
    return None


def _told_elsewhere(tables: Tables, application: Application, tool: Tool) -> float:
    """Return what other tools, and gates, have told of the test rows so far, in nats."""
    if "test" not in tool.needs:
        return 0.0
    of_tools = told.by_tools(tables, application.id, but=tool.name)
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
        other = tool_named(told.tool)
        share_test_rows = "test" in tool.needs and "test" in other.needs
        if other.name == tool.name or share_test_rows:
            message = f"{other.name} is being asked something else."
            raise Conflict(message, where=task.id, remedy="Ask again when it has answered.")
