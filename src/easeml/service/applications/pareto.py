"""The models of an application by several measures at once, and which of them are best in some way."""

from typing import Annotated

from pydantic import Field

from easeml.contract.models import TrainedModel
from easeml.contract.pareto import Pareto, ParetoAxis, ParetoPoint
from easeml.errors import InvalidInput
from easeml.lifecycle import pareto
from easeml.service.access.caller import Caller
from easeml.service.applications import applications
from easeml.service.knowledge import knowledge_base
from easeml.service.search import model_limits
from easeml.store import Store, Tables, Transaction
from easeml.store.records import Application
from easeml.store.shapes import given

MaybeAxes = Annotated[
    list[str] | None,
    Field(
        min_length=2,
        max_length=4,
        description="measures, latency or size: by what models are compared",
    ),
]
_TAKEN = {
    model_limits.LATENCY: ParetoAxis(
        name="latency", title="One row takes", unit="s", lower_is_better=True
    ),
    model_limits.SIZE: ParetoAxis(name="size", title="Size", unit="bytes", lower_is_better=True),
}


def get(store: Store, caller: Caller, application_id: str, axis: MaybeAxes = None) -> Pareto:
    """Return the models that can be compared now, by two to four measures.

    By default these are the objective and the latency.

    Raises ``NotFound``, and ``InvalidInput`` for a measure that no model has.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        models = applications.best_models(tables, application)
        breaks = breaking(tables, application, models)
        if axis is not None:
            return of(tx, application, models, axis, breaks)
        if not any(application.objective in model.measures for model in models):
            return Pareto(application_id=application.id, axes=[])  # no model yet
        usual = [application.objective, model_limits.LATENCY]
        return of(tx, application, models, usual, breaks)


def breaking(
    tables: Tables, application: Application, models: list[TrainedModel]
) -> dict[str, str]:
    """Return which of these models break a rule of their application, by id, with the reason."""
    if not model_limits.are_any(application.rules):
        return {}
    records = tables.models.list(id=[model.id for model in models], limit=None)
    return model_limits.breaking(tables, application.rules, records)


def of(
    tx: Transaction,
    application: Application,
    models: list[TrainedModel],
    names: list[str],
    breaks: dict[str, str],
) -> Pareto:
    """Return an application's ``models`` by the measures ``names``; see ``get``."""
    comparable = [model for model in models if model.comparable and not model.error]
    titles = knowledge_base.objectives(tx, names)
    axes = [_axis(name, titles[name][0], comparable) for name in names]
    points = []
    for model in comparable:
        measured = _measured(model)
        if not measured.keys() >= set(names):
            continue
        point = ParetoPoint(
            model_id=model.id,
            name=model.name,
            task_id=model.task_id,
            values=[measured[name] for name in names],
            on_front=False,
            live=model.id == application.live_model_id,
            breaks=breaks.get(model.id, ""),
        )
        points.append(point)
    return Pareto(
        application_id=application.id,
        axes=axes,
        points=_marked(points, axes),
        unmeasured=len(comparable) - len(points),
    )


def _marked(points: list[ParetoPoint], axes: list[ParetoAxis]) -> list[ParetoPoint]:
    """Return the points in the order of the first axis, those on the front marked.

    What may not serve is on no front, and hides nothing from it.
    """
    lower = [axis.lower_is_better for axis in axes]
    may_serve = [one for one in points if not one.breaks]
    on_front = pareto.front([one.values for one in may_serve], lower)
    for one, is_best in zip(may_serve, on_front, strict=True):
        one.on_front = bool(is_best)
    return sorted(points, key=lambda one: one.values[0], reverse=not lower[0])


def _axis(name: str, title: str, models: list[TrainedModel]) -> ParetoAxis:
    """Return an axis by its name. Raises ``InvalidInput`` for what no model is measured by."""
    if name in _TAKEN:
        return _TAKEN[name]
    for model in models:
        if name in model.measures:
            measure = model.measures[name]
            return ParetoAxis(
                name=name, title=title, unit=measure.unit, lower_is_better=measure.lower_is_better
            )
    known = set(_TAKEN).union(*(model.measures for model in models))
    likely = knowledge_base.likely(name, known)
    raise InvalidInput(
        f"No model is measured by {name!r}.",
        where="axis",
        remedy=f"Ask for it: easeml app models ID --measure {name!r}. {likely}",
    )


def _measured(model: TrainedModel) -> dict[str, float]:
    """Return what is known of a model, by the name of an axis."""
    known = {name: measure.value for name, measure in model.measures.items()}
    taken = {model_limits.SIZE: float(model.size), model_limits.LATENCY: model.latency}
    return known | given(**taken)
