"""``app gate`` and ``app gates``: what has to be proven of a model before it may serve."""

from functools import partial
from typing import Annotated

import typer

from easeml.cli.options import ApplicationId, Json, checked, exactly_one
from easeml.cli.output import print_found, print_pairs, say
from easeml.client import Client
from easeml.contract.gates import Gate, Gates, NewGate, Retirement
from easeml.contract.knowledge import Titles
from easeml.errors import InvalidInput

Adaptivity = Annotated[
    str, typer.Option(help="What may follow the answers: full, none or firstChange.")
]
Metric = Annotated[
    str, typer.Option(help="What n and o measure: accuracy, f1, row-f1, brier or absolute-error.")
]


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module to ``app``."""
    app.command()(gate)
    app.command()(gates)


def gate(
    application_id: ApplicationId,
    condition: Annotated[
        str, typer.Argument(help="What has to be proven, such as 'n - o > 0.02 +/- 0.01'.")
    ] = "",
    *,
    reliability: Annotated[float, typer.Option(help="Chance that no model errs.")] = 0.95,
    adaptivity: Adaptivity = "full",
    steps: Annotated[int, typer.Option(help="Models that can be tested.")] = 8,
    metric: Metric = "",
    positive: Annotated[str, typer.Option(help="Of f1 and brier: their class.")] = "1",
    scale: Annotated[
        float,
        typer.Option(
            help="Of absolute-error: the largest that counts. 0: twice the root mean squared error "
            "of the model that serves."
        ),
    ] = 0.0,
    labels: Annotated[
        int,
        typer.Option(help="Most labels that people may be asked for where test rows cannot tell."),
    ] = 0,
    rows: Annotated[
        int, typer.Option(help="Most test rows to wear out; others are for later. 0: all.")
    ] = 0,
    remove: Annotated[bool, typer.Option("--remove", help="Let models serve unproven.")] = False,
    retire: Annotated[
        bool,
        typer.Option("--retire", help="Learn from worn-out test rows; test on others from now on."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Let only models serve for which a condition is proven on test rows."""
    either = InvalidInput(
        "Name the condition that has to be proven, or --remove the one that there is, or --retire "
        "test rows.",
        where="CONDITION",
    )
    exactly_one(condition, remove, retire, otherwise=either)
    with Client() as client:
        if remove:
            found = client.remove_gate(application_id)
        elif retire:
            wish = checked(Retirement, {"labels": labels or None})
            found = client.retire_test_rows(application_id, wish)
        else:
            told = {
                "condition": condition,
                "reliability": reliability,
                "adaptivity": adaptivity,
                "steps": steps,
                "metric": metric,
                "positive": positive,
                "scale": scale,
                "labels": labels,
                "rows": rows,
            }
            found = client.set_gate(application_id, checked(NewGate, told))
        _print(client, found, as_json)


def gates(application_id: ApplicationId, as_json: Json = False) -> None:
    """Show what is promised of every model that goes live, and how long the test rows last."""
    with Client() as client:
        _print(client, client.gates(application_id), as_json)


def _print(client: Client, found: Gates, as_json: bool) -> None:
    print_found(found, partial(_print_gates, client), as_json=as_json)


def _print_gates(client: Client, found: Gates) -> None:
    titles = client.module_titles()
    say(found.promise)
    for one in found.gates:
        print_pairs(
            [
                ("condition", one.condition),
                ("reliability", one.reliability),
                ("steps spent", f"{one.steps_spent} of {one.steps}"),
                ("test rows", one.rows),
                *_groups(one),
                ("rows that show gains", one.rows_for_gains),
                ("rows that always tell", one.rows_needed),
                ("for 32 models", one.rows_needed_32),
                ("being tested", "a model" if one.testing else None),
                *_labels(titles, one),
            ]
        )
        say(one.lasts)
        if one.too_few:
            say(one.too_few)
    if found.retirable:
        say(
            f"{found.retirable:,} worn-out test rows can be learned from, and never be test rows "
            f"again: easeml app gate {found.application_id} --retire"
        )


def _groups(gate: Gate) -> list[tuple[str, int]]:
    return [(f"test rows with {one.group}", one.rows) for one in gate.groups]


def _labels(titles: Titles, gate: Gate) -> list[tuple[str, str | int | None]]:
    """Return what is told of the labels that a gate may buy, if it may."""
    labels = gate.labels
    if labels is None:
        return []
    waits = labels.waiting
    return [
        ("labels bought", f"{labels.bought} of {labels.budget}"),
        ("rows kept for tests", f"{labels.rows_left} of {labels.rows} are left"),
        ("waits", f"{titles.of(waits.name)}. {waits.says}" if waits else None),
    ]
