"""``app models``: the trained models of an application, by as many measures as somebody wants."""

from typing import Annotated

import typer

from easeml.cli.options import ApplicationId, Json
from easeml.cli.output import moment, print_json, print_table, say
from easeml.client import Client
from easeml.contract.knowledge import Titles
from easeml.contract.measures import called, in_unit, value_on
from easeml.contract.models import TrainedModel
from easeml.contract.pareto import Pareto
from easeml.contract.states import TaskState
from easeml.errors import EasemlError

_TAKEN = ("latency", "size")


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
        wanted = list(measure or [])
        axes = _divided(pareto) if pareto else []
        _measure(client, application_id, [*wanted, *axes])
        titles = client.module_titles()
        if axes:
            named = [_known_as(client, application_id, one) for one in axes]
            found = client.pareto(application_id, axis=named)
            return print_json(found) if as_json else _print_pareto(found, titles)
        application = client.application(application_id)
        board = list(client.models(application_id))
        asked = client.measures(application_id).asked
        if as_json:
            return print_json(board)
    rows = []
    for model in board:
        row = (
            model.id,
            titles.of(model.name),
            _measure_of(model, application.target),
            *(_further(model, name) for name in asked),
            model.quality,
            model.version,
            moment(model.created),
            _fault(model) if model.error else len(model.notes),
        )
        rows.append(row)
    objective = called(application.objective)
    say(f"Measured on validation rows. Score: {objective}, scaled so that 1 is best.")
    head = ["id", "name", objective, *asked, "score", "version", "created", "notes"]
    return print_table(head, rows)


def _measure(client: Client, application_id: str, names: list[str]) -> None:
    """Ask for measures that models do not have, and wait until they have them."""
    known: set[str] = set(_TAKEN)
    for model in client.models(application_id):
        known.update(model.measures)
    for name in names:
        if name in known:
            continue
        asked = client.ask_measure(application_id, name)
        if not asked.task_id:
            continue
        task = client.wait_task(asked.task_id)
        if task.state != TaskState.DONE:
            client.drop_measure(application_id, name)
            raise EasemlError(f"The models cannot be measured by {name}. {task.error.strip()}")


def _known_as(client: Client, application_id: str, name: str) -> str:
    """Return the name that a measure is known by: as it was written, but for spaces and case."""
    plain = _plain(name)
    for one in client.measures(application_id).asked:
        if _plain(one) == plain:
            return one
    return name


def _plain(name: str) -> str:
    return name.replace(" ", "").lower()


def _divided(text: str) -> list[str]:
    """Return the measures that commas outside of brackets divide."""
    found, depth = [""], 0
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [one.strip() for one in found if one.strip()]


def _print_pareto(found: Pareto, titles: Titles) -> None:
    rows = []
    for point in found.points:
        front = "front" if point.on_front else ""
        values = [
            value_on(axis, value) for axis, value in zip(found.axes, point.values, strict=True)
        ]
        name = titles.of(point.name) + (" (live)" if point.live else "")
        rows.append((point.model_id, name, *values, front or point.breaks))
    print_table(["id", "name", *(axis.name for axis in found.axes), "best in some way"], rows)
    if found.unmeasured:
        say(f"{found.unmeasured} more models lack one of these measures.")


def _further(model: TrainedModel, name: str) -> str:
    measure = model.measures.get(name)
    return in_unit(measure) if measure else "-"


def _measure_of(model: TrainedModel, target: str) -> str:
    """Return a model's measure in its own unit; models of older versions have a score alone."""
    value = in_unit(model.measure, target) if model.measure else "-"
    return value if model.comparable else f"{value} (on fewer rows)"


def _fault(model: TrainedModel) -> str:
    return f"{'retired' if model.retired else 'lost'}: {model.error}"
