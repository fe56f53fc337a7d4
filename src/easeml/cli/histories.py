"""``app learn``: let a search learn from trials of another program."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from easeml.cli.options import ApplicationId, Json
from easeml.cli.output import print_found, say
from easeml.client import Client
from easeml.contract.task_views import Task

_MOST_CANDIDATES = 3  # that the service makes of a history
_MOST_SHOWN = 10


class Direction(StrEnum):
    """Which values are better."""

    MAXIMIZE = "maximize"
    MINIMIZE = "minimize"


def learn(
    application_id: ApplicationId,
    file: Annotated[
        Path, typer.Argument(help="SQLite file or journal of an Optuna study, or a CSV table.")
    ],
    model: Annotated[
        str, typer.Option(help="Model of all trials, where they do not name theirs.")
    ] = "",
    study: Annotated[str, typer.Option(help="Its name, where the file has several.")] = "",
    value: Annotated[
        str, typer.Option(help="Column of a table by which its trials are judged.")
    ] = "",
    direction: Annotated[
        Direction | None, typer.Option(help="Which values of a table are better.")
    ] = None,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds to wait.")] = 120.0,
    as_json: Json = False,
) -> None:
    """Let the search of an application learn from trials that another program made.

    What parameters mean here is told, and why trials were left out. The best three configurations
    become candidates; all together are believed as far as this search bears them out.
    """
    with Client() as client:
        task = client.import_history(
            application_id,
            file,
            model=model,
            study=study,
            value=value,
            direction=direction or "",
        )
        task = client.wait_task(task.id, timeout=timeout)
    print_found(task, _show, as_json=as_json)


def _show(task: Task) -> None:
    read = task.result
    counts = read["counts"]
    say(f"{counts['taken']} trials taken, {counts['left_out']} left out.")
    say(*read.get("notes", []))
    for name, trials in read["ignored"].items():
        say(f"No model here has the parameter '{name}' ({trials} trials): it is left out of them.")
    _say_left_out(read["left_out"], counts["left_out"])
    for one in candidates_of(read["taken"]):
        config = ", ".join(f"{name} {value}" for name, value in one["config"].items())
        say(f"A candidate here: {one['model']} ({config}), which had {one['value']:.6g}.")


def candidates_of(taken: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the best three trials, the best first, of those with one configuration the first."""
    found: list[dict[str, Any]] = []
    for one in taken:
        if (one["model"], one["config"]) not in [(two["model"], two["config"]) for two in found]:
            found.append(one)
    return found[:_MOST_CANDIDATES]


def _say_left_out(trials: list[dict[str, Any]], count: int) -> None:
    """Say why trials were left out, of the first of ``count``."""
    say(*map("Trial {trial}: {why}".format_map, trials[:_MOST_SHOWN]))
    if count > _MOST_SHOWN:
        say("...")
