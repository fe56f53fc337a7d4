"""``app diff``: how a trained model of a live application differs from another."""

from functools import partial
from typing import Annotated, Any

import typer

from easeml.cli.asking import waited_report
from easeml.cli.lookup import first_that
from easeml.cli.options import ApplicationId, Json
from easeml.cli.output import print_table, print_told
from easeml.cli.showing import print_answer
from easeml.client import Client
from easeml.contract.knowledge import Titles
from easeml.contract.models import TrainedModel
from easeml.contract.reports import Report, ReportTable
from easeml.errors import Conflict, InvalidInput, NotFound

_LIVE = "live"
_NUMBER = {"value", "low", "high"}  # what scripts read of a number
_NAMED = 10  # models that a refusal names


def add_to(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command()(diff)


def diff(
    application_id: ApplicationId,
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL [MODEL]",
            help="Id or name of the old and of the new model; one alone is compared with the live one.",
        ),
    ],
    *,
    timeout: Annotated[
        float | None, typer.Option(min=0, help="Seconds to wait at most (exit code 3).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show how two models differ on validation rows: quality, predictions, groups, columns used.

    A name stands for the best model of that name, live or champion for the one that serves, and
    challenger for the one that is compared with it on live requests.
    """
    if len(models) > 2:
        raise InvalidInput("Two models are compared, not more.", where="MODEL")
    old_name, new_name = models if len(models) == 2 else (_LIVE, models[0])
    with Client() as client:
        trained = list(client.models(application_id))
        titles = client.module_titles()
        aliases = aliases_of(client, application_id)
        new = model_named(trained, new_name, aliases, titles)
        old = model_named(trained, old_name, aliases, titles)
        task = client.ask_tool(application_id, "difference", model_id=new.id, against_id=old.id)
        found = waited_report(client, application_id, task.id, timeout)
    show = partial(_print_compared, titles, found, old, new)
    print_told(_told(found, old, new), show, as_json=as_json)


def _print_compared(titles: Titles, found: Report, old: TrainedModel, new: TrainedModel) -> None:
    print_answer(found.with_texts(titles.in_text))
    lines = [("old", *_of_model(titles, old)), ("new", *_of_model(titles, new))]
    print_table(["", "id", "model", "seconds a row", "bytes"], lines)


def aliases_of(client: Client, application_id: str) -> dict[str, str]:
    """Return the ids of the models that have a part: live, champion and challenger.

    An id is empty where there is no such model now.
    """
    live = client.application(application_id).live_model
    live_id = live.id if live else ""
    rollouts = client.rollouts(application_id)
    challenger_id = rollouts.rollouts[0].model_id if rollouts.running else ""
    return {_LIVE: live_id, "champion": live_id, "challenger": challenger_id}


def model_named(
    trained: list[TrainedModel], name: str, aliases: dict[str, str], titles: Titles
) -> TrainedModel:
    """Return the model of that id or alias, or the best of that name or title.

    Raises ``NotFound`` naming what there is, ``Conflict`` where no model has that part.
    """
    wanted = aliases.get(name, name)
    if not wanted:
        raise Conflict(
            f"No model is {name} now.", where=name, remedy="Name models by their ids or names."
        )
    there_are = ", ".join(f"{titles.of(one.name)} ({one.id})" for one in trained[:_NAMED])
    no_such = NotFound(
        "The application has no such model.",
        where=name,
        remedy=f"There are: {there_are or 'none yet'}.",
    )

    def is_meant(one: TrainedModel) -> bool:
        return wanted in (one.id, one.name, titles.of(one.name))

    return first_that(is_meant, trained, no_such)


def _of_model(titles: Titles, one: TrainedModel) -> tuple[Any, ...]:
    return one.id, titles.of(one.name), one.latency, one.size


def _told(found: Report, old: TrainedModel, new: TrainedModel) -> dict[str, Any]:
    """Return the answer by the names that scripts read."""
    numbers = {one.name: one.model_dump(include=_NUMBER) for one in found.numbers}
    rows, groups, columns = found.tables
    return {
        "application_id": found.application_id,
        "report_id": found.id,
        "verdict": found.verdict,
        "advice": found.advice,
        "old": _model_told(old, numbers["old"]),
        "new": _model_told(new, numbers["new"]),
        "gain": numbers["gain"],
        "changed": numbers["changed"],
        "rows": int(numbers["rows"]["value"]),
        "changed_rows": _lines(rows),
        "groups": _lines(groups),
        "columns": _lines(columns),
        "assumes": found.assumes,
        "notes": found.notes,
    }


def _model_told(model: TrainedModel, quality: dict[str, Any]) -> dict[str, Any]:
    told = {"id": model.id, "name": model.name, "latency": model.latency, "size": model.size}
    return {**told, "quality": quality}


def _lines(table: ReportTable) -> list[dict[str, Any]]:
    """Return the rows of a table, each by the names of the columns."""
    names = list(map(str.lower, table.columns))
    return [dict(zip(names, row, strict=True)) for row in table.rows]
