"""``app models``: the trained models of an application, by as many measures as somebody wants."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated

import typer

from easeml.cli.options import ApplicationId, Json
from easeml.cli.output import print_found, print_resources, print_table, say
from easeml.client import Client
from easeml.contract.knowledge import Titles
from easeml.contract.measures import best_judged_on, called, in_unit, value_on
from easeml.contract.models import Measure, TrainedModel
from easeml.contract.pareto import Pareto, ParetoAxis, ParetoPoint
from easeml.errors import Conflict, EasemlError

_TAKEN = ("latency", "size")
_DEEPER = {"(": 1, ")": -1}


def add_to(app: typer.Typer) -> None:
    """Add the command to those of applications."""
    app.command("models")(models)


def models(
    application_id: ApplicationId,
    *,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            help="Measure the models by this as well, and those to come: recall(bad), gap(sex), "
            "worst(sex, accuracy), noisy(0.1); repeatable."
        ),
    ] = None,
    pareto: Annotated[
        str | None,
        typer.Option(
            help="Two to four measures with commas, latency and size among them: which models are "
            "best in some way."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the trained models of an application, best first."""
    with Client() as client:
        axes = _divided(pareto or "")
        _measure(client, application_id, [*(measure or []), *axes])
        if axes:
            named = _known_as(client, application_id, axes)
            found = client.pareto(application_id, axis=named)
            print_found(found, partial(_print_pareto, client.module_titles()), as_json=as_json)
        else:
            board = list(client.models(application_id))
            print_found(board, partial(_print_board, client, application_id), as_json=as_json)


def _print_board(client: Client, application_id: str, board: list[TrainedModel]) -> None:
    """Print models with their measures; each that was asked for has a column."""
    titles = client.module_titles()
    application = client.application(application_id)
    asked = client.measures(application_id).asked
    objective = called(application.objective)
    rows = best_judged_on(application)
    say(f"Measured on {rows}. Score: {objective}, scaled so that 1 is best.")
    further = {name: partial(_further, name) for name in asked}
    columns = {
        "id": "id",
        "name": lambda model: titles.of(model.name),
        objective: partial(_measure_of, target=application.target),
        **further,
        "score": "quality",
        "version": "version",
        "created": "created",
        "notes": lambda model: _fault(model) if model.error else len(model.notes),
    }
    print_resources(board, columns)


def _further(name: str, model: TrainedModel) -> object:
    return _in_unit(model.measures.get(name))


def _measure(client: Client, application_id: str, names: list[str]) -> None:
    """Ask for measures that models do not have, and wait until they have them."""
    known: set[str] = set(_TAKEN).union(*(one.measures for one in client.models(application_id)))
    for name in names:
        if name not in known:
            _measure_by(client, application_id, name)


def _measure_by(client: Client, application_id: str, name: str) -> None:
    """Have all models measured by ``name``. Raises ``EasemlError`` where that fails."""
    asked = client.ask_measure(application_id, name)
    if not asked.task_id:
        return
    try:
        client.wait_task(asked.task_id)
    except Conflict as error:
        client.drop_measure(application_id, name)
        reason = error.message.strip()
        raise EasemlError(f"The models cannot be measured by {name}. {reason}") from error


def _known_as(client: Client, application_id: str, names: list[str]) -> list[str]:
    """Return the names that measures are known by, which differ in spaces and case at most."""
    known = {_plain(one): one for one in client.measures(application_id).asked}
    return [known.get(_plain(name), name) for name in names]


def _plain(name: str) -> str:
    return name.replace(" ", "").lower()


def _divided(text: str) -> list[str]:
    """Return the measures that commas outside of brackets divide."""
    found, depth = [""], 0
    for letter in text:
        depth += _DEEPER.get(letter, 0)
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return list(filter(None, map(str.strip, found)))


def _print_pareto(titles: Titles, found: Pareto) -> None:
    axes = [axis.name for axis in found.axes]
    row_of = partial(_point_row, titles, found.axes)
    print_table(["id", "name", *axes, "best in some way"], map(row_of, found.points))
    if found.unmeasured:
        say(f"{found.unmeasured} more models lack one of these measures.")


def _point_row(
    titles: Titles, axes: Sequence[ParetoAxis], point: ParetoPoint
) -> tuple[object, ...]:
    live = " (live)" if point.live else ""
    standing = "front" if point.on_front else point.breaks
    values = map(value_on, axes, point.values)
    return point.model_id, titles.of(point.name) + live, *values, standing


def _in_unit(measure: Measure | None, target: str = "") -> str:
    return in_unit(measure, target) if measure else "-"


def _measure_of(model: TrainedModel, target: str) -> str:
    """Return a model's measure in its own unit; models of older versions have a score alone."""
    value = _in_unit(model.measure, target)
    if model.former_objective:
        return f"{value} (chosen by {called(model.former_objective)})"
    return value if model.comparable else f"{value} (on fewer rows)"


def _fault(model: TrainedModel) -> str:
    kind = "retired" if model.retired else "lost"
    return f"{kind}: {model.error}"
