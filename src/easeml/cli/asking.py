"""``app report``: ask any lifecycle tool about a live application; and how an answer looks."""

from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue, TypeAdapter, ValidationError

from easeml.cli.options import ApplicationId, Json
from easeml.cli.output import print_json
from easeml.cli.showing import print_answer
from easeml.client import Client
from easeml.errors import InvalidInput

_VALUE: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)


def add_to(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command()(report)


def report(
    application_id: ApplicationId,
    tool: Annotated[str, typer.Argument(help="Name of the tool, such as feasibility.")],
    *,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="NAME=VALUE of a parameter, such as goal=0.9; repeatable."),
    ] = None,
    newer: Annotated[
        Path | None,
        typer.Option(help="Table file of rows that came later, for tools that take it."),
    ] = None,
    model: Annotated[str, typer.Option(help="Id of the trained model in question.")] = "",
    timeout: Annotated[
        float | None, typer.Option(min=0, help="Seconds to wait at most (exit code 3).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Ask a lifecycle tool about an application's data, and keep its answer there."""
    parameters = _parameters(set_ or [])
    with Client() as client:
        newer_id = client.upload(newer).version.id if newer else ""
        task = client.ask_tool(
            application_id, tool, newer_id=newer_id, model_id=model, against_id="", **parameters
        )
        client.wait_task(task.id, timeout=timeout)
        found = next(one for one in client.reports(application_id) if one.task_id == task.id)
    if as_json:
        print_json(found)
    else:
        print_answer(found)


def _parameters(options: list[str]) -> dict[str, JsonValue]:
    """Return ``NAME=VALUE`` options; a value is JSON, or else a text."""
    found: dict[str, JsonValue] = {}
    for option in options:
        name, separator, value = option.partition("=")
        if not name or not separator:
            remedy = "Write, say, --set goal=0.9."
            raise InvalidInput(f"{option!r} is not NAME=VALUE.", where="--set", remedy=remedy)
        try:
            found[name] = _VALUE.validate_json(value)
        except ValidationError:
            found[name] = value
    return found
