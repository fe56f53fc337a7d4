"""``app adapt``: what serves is fitted to production that nobody has labelled, and tested."""

from typing import Annotated

import typer

from easeml.cli.options import ApplicationId, Json, checked
from easeml.cli.output import print_found, print_pairs, print_table, say, say_aside
from easeml.client import Client
from easeml.contract.adaptation import Adaptation, NewAdaptation
from easeml.errors import Conflict


def add_to(app: typer.Typer) -> None:
    """Add the command of this module to ``app``."""
    app.command()(adapt)


def adapt(
    application_id: ApplicationId,
    *,
    way: Annotated[
        list[str] | None,
        typer.Option(help="weights, prior, scale or pseudo-labels; may be repeated. All else."),
    ] = None,
    labels: Annotated[
        int, typer.Option(min=1, help="Most labels that may be bought to prove a gain.")
    ] = 200,
    rows: Annotated[
        int, typer.Option(min=100, help="How many of the newest rows of production.")
    ] = 4000,
    show: Annotated[
        bool, typer.Option("--show", help="Tell what the last adaptation came to, and begin none.")
    ] = False,
    timeout: Annotated[
        float | None, typer.Option(min=0, help="Seconds to wait at most (exit code 3).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Adapt what serves to the newest rows of production, and let it serve if labels prove a gain.

    Needs no labels to make models: labelled rows count by how often rows like them, or of their
    class, come by now; columns are read as they are today; or a model learns from its sure answers.
    """
    with Client() as client:
        if not show:
            wish = checked(NewAdaptation, {"ways": way or [], "labels": labels, "rows": rows})
            begun = client.adapt(application_id, wish)
            _wait(client, begun, timeout)
        found = client.adaptation(application_id)
    print_found(found, _print, as_json=as_json)


def _wait(client: Client, begun: Adaptation, timeout: float | None) -> None:
    """Wait until the models are made, and tell of each."""
    for one in begun.ways:
        try:
            client.wait_task(one.task_id, timeout=timeout)
            say_aside(f"{one.way}: done")
        except Conflict as failed:  # the other ways may fit
            say_aside(f"{one.way}: {failed.message}")


def _print(found: Adaptation) -> None:
    if not found.began:
        say("Nothing was adapted yet.")
        return
    print_table(["way", "model", "what was found"], [_row(one.model_dump()) for one in found.ways])
    under_way = None
    if found.running:
        under_way = f"compared on {found.rows} rows of production"
    print_pairs(
        [
            ("under way", under_way),
            ("labels asked for", f"{found.asked} of at most {found.labels}"),
            ("came to", found.says or None),
        ]
    )
    if found.running:
        say(f"People are asked: easeml work next {found.application_id}")


def _row(one: dict[str, str]) -> tuple[str, str, str]:
    return one["way"], one["name"] or "-", one["says"] or one["state"]
