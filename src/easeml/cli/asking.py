"""``app report``: ask any lifecycle tool about a live application; and how an answer looks."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue, TypeAdapter, ValidationError

from easeml.cli.options import ApplicationId, Json, name_and_value
from easeml.cli.output import print_found
from easeml.cli.showing import print_answer
from easeml.client import Client
from easeml.contract.knowledge import Titles
from easeml.contract.reports import Report
from easeml.errors import Conflict, InvalidInput

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
        newer_id = ""
        if newer is not None:
            _check_it_can(client, application_id, tool)
            newer_id = client.upload(newer).version.id
        task = client.ask_tool(
            application_id, tool, newer_id=newer_id, model_id=model, against_id="", **parameters
        )
        found = waited_report(client, application_id, task.id, timeout)
        titles = client.module_titles()
    print_found(found, partial(_print, titles), as_json=as_json)


def _check_it_can(client: Client, application_id: str, tool: str) -> None:
    """Raise ``Conflict`` where a tool cannot be asked, before rows are sent for it."""
    for one in client.application_tools(application_id):
        if one.name == tool and one.why_not:
            raise Conflict(one.why_not, where=application_id)


def _print(titles: Titles, found: Report) -> None:
    print_answer(found.with_texts(titles.in_text))


def waited_report(
    client: Client, application_id: str, task_id: str, timeout: float | None
) -> Report:
    """Return what a task that asks a tool brought, after at most ``timeout`` seconds.

    Raises ``TimedOut``, and ``Conflict`` where the task failed.
    """
    client.wait_task(task_id, timeout=timeout)
    return next(one for one in client.reports(application_id) if one.task_id == task_id)


def _parameters(options: list[str]) -> dict[str, JsonValue]:
    """Return ``NAME=VALUE`` options; a value is JSON, or else a text."""
    found: dict[str, JsonValue] = {}
    for option in options:
        remedy = "Write, say, --set goal=0.9."
        refused = InvalidInput(f"{option!r} is not NAME=VALUE.", where="--set", remedy=remedy)
        name, value = name_and_value(option, refused)
        found[name] = _value(value)
    return found


def _value(text: str) -> JsonValue:
    try:
        return _VALUE.validate_json(text)
    except ValidationError:
        return text
