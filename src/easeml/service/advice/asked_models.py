"""Which models of an application a lifecycle tool is asked about."""

from dataclasses import dataclass

from easeml.contract.reports import NewReport
from easeml.data.types.label_lists import LABELS
from easeml.errors import Conflict, InvalidInput
from easeml.lifecycle.tool import INSTEAD_OF_SEVERAL, OF_ONE_ANSWER, Tool
from easeml.service.gates import kept
from easeml.store import Tables
from easeml.store.records import Application, TrainedModel

OF_CLASSES = (
    "It compares predicted classes, and this application predicts numbers. To compare "
    "models, ask: Is it better on newer rows?"
)
SEVERAL = (LABELS, "tensor")  # types of targets of which a row may have several
MOST_MODELS = 20  # that a tool compares at once


@dataclass(frozen=True, slots=True)
class Chosen:
    """The model in question, if it is one, and those whose predictions are compared.

    ``compared``: ids by the names that the tool knows.
    """

    model: TrainedModel | None
    compared: dict[str, str]


def takes_one(tool: Tool) -> bool:
    """May a model be named that the tool is asked about?"""
    return tool.asks_about_a_model and tool.models != "all"


def compares_any(tool: Tool) -> bool:
    """Tell whether a tool compares any two models.

    One that tells of test rows is asked about what serves alone: its ledger is of that series.
    """
    return tool.models == "pair" and "test" not in tool.needs


def why_none(tables: Tables, application: Application, tool: Tool) -> str:
    """Return why there are not the models that a tool needs; empty where there are."""
    of_numbers = tool.of_classes and predicts_numbers(tables, application)
    if of_numbers:
        return OF_CLASSES
    if tool.uses_a_model and not application.live_model_id:
        return "It is asked about the model that serves, and none does yet."
    if tool.models in ("pair", "all"):
        return _why_no_comparison(tables, application, tool)
    return ""


def predicts_numbers(tables: Tables, application: Application) -> bool:
    """Tell whether the models of an application predict numbers."""
    return tables.versions.get(application.version_id).target_type == "number"


def has_several(tables: Tables, application: Application) -> bool:
    """Tell whether the rows of an application may have several answers: labels, or numbers."""
    return tables.versions.get(application.version_id).target_type in SEVERAL


def check_one_answer(tables: Tables, application: Application) -> None:
    """Raise ``Conflict`` where rows may have several answers: what follows looks at one."""
    if has_several(tables, application):
        raise Conflict(OF_ONE_ANSWER, where=application.id, remedy=INSTEAD_OF_SEVERAL)


def _why_no_comparison(tables: Tables, application: Application, tool: Tool) -> str:
    if len(_loadable(tables, application)) < 2:
        return "It compares trained models, and there is one only."
    if tool.models == "all" and len(_eligible(tables, application)) < 2:
        return "It chooses among models that passed the gate, and there is one only."
    return ""


def chosen(tables: Tables, application: Application, tool: Tool, wish: NewReport) -> Chosen:
    """Return the models that a tool is asked about: those that were named, or the usual ones.

    Raises ``NotFound``; ``InvalidInput`` for a model of another application, and for one that
    cannot be compared with another; ``Conflict`` for a model that cannot be loaded.
    """
    against = _against(tables, application, tool, wish.against_id)
    if tool.models == "all":
        models = _eligible(tables, application)
        return Chosen(None, {f"{one.name} ({one.id})": one.id for one in models})
    if tool.models == "pair":
        model = _rival(tables, application, wish.model_id, against)
        return Chosen(model, {"old": against, "new": model.id})
    if not tool.uses_a_model:
        return Chosen(None, {})
    model = _trained(tables, application, wish.model_id or application.live_model_id)
    compared = {"model": model.id} if tool.models == "one" else {}
    return Chosen(model, compared)


def _against(tables: Tables, application: Application, tool: Tool, model_id: str) -> str:
    """Return the id of the model that another is compared with: the one that serves by default."""
    if not model_id:
        return application.live_model_id
    if not compares_any(tool):
        raise InvalidInput(
            f"{tool.name} does not compare a model with any other.",
            where="against_id",
            remedy="Leave it out; the tool difference compares any two.",
        )
    return _trained(tables, application, model_id).id


def _rival(tables: Tables, application: Application, model_id: str, against: str) -> TrainedModel:
    """Return the model that is compared with ``against``: the one named, or the best other one."""
    if model_id == against:
        what = "serves already" if against == application.live_model_id else "is the same"
        raise InvalidInput(f"This model {what}.", where="model_id", remedy="Name another.")
    if model_id:
        return _trained(tables, application, model_id)
    models = _loadable(tables, application)
    return models[0] if models[0].id != against else models[1]


def _trained(tables: Tables, application: Application, model_id: str) -> TrainedModel:
    model = tables.models.get(model_id)
    if model.application_id != application.id:
        raise InvalidInput("The model is of another application.", where="model_id")
    if model.error:
        raise Conflict(f"The model cannot be loaded: {model.error}", where=model.id)
    return model


def _loadable(tables: Tables, application: Application) -> list[TrainedModel]:
    """Return the trained models that can be loaded, the best on validation rows first."""
    found = tables.models.list(application_id=application.id, error="", limit=None)
    return _best(found)


def _eligible(tables: Tables, application: Application) -> list[TrainedModel]:
    """Return the models that could be chosen to serve, the best on validation rows first.

    Where the application has a gate, those are the ones that served before: what was not proven
    may not serve.
    """
    found = tables.models.list(application_id=application.id, error="", limit=None)
    if kept.active(tables, application.id) is not None:
        found = [model for model in found if kept.was_live(tables, application, model.id)]
    return _best(found)


def _best(models: list[TrainedModel]) -> list[TrainedModel]:
    return sorted(models, key=lambda model: (-model.quality, model.id))[:MOST_MODELS]
