"""``app``: declare applications, look at them, and decide what they serve."""

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from easeml.cli import (
    adapting,
    asking,
    creating,
    differing,
    gates,
    histories,
    journey,
    keeping,
    leaderboard,
    objective,
    production,
    remedies,
    retention,
    rollouts,
    rules,
)
from easeml.cli.options import ApplicationId, Json, WhichTable
from easeml.cli.output import (
    print_done,
    print_found,
    print_json,
    print_list,
    print_resources,
    say,
)
from easeml.cli.showing import print_application, served_title
from easeml.cli.versions import feed_and_wait, say_version
from easeml.cli.watching import LastingReason, watch_application
from easeml.client import Client, Milestone
from easeml.contract.applications import Application
from easeml.contract.measures import best_found
from easeml.contract.states import JobState, TaskState
from easeml.errors import InvalidInput


class Role(StrEnum):
    """What rows are for."""

    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"
    POOL = "pool"
    PRODUCTION = "production"


app = typer.Typer(no_args_is_help=True, help="Applications: from data to a served model.")
creating.add_to(app)  # first, as it is listed


def register(root: typer.Typer) -> None:
    """Add the commands of this module to the root."""
    asking.add_to(app)
    journey.add_to(app)
    gates.add_to(app)
    differing.add_to(app)
    production.add_to(app)
    adapting.add_to(app)
    rollouts.add_to(app)
    retention.add_to(app)
    rules.add_to(app)
    objective.add_to(app)
    leaderboard.add_to(app)
    keeping.add_to(app)
    app.command()(histories.learn)
    remedies.add_to(app)
    root.add_typer(app, name="app")


@app.command()
def feed(
    application_id: ApplicationId,
    file: Annotated[
        Path | None, typer.Argument(help="Rows with the columns of the application's data.")
    ] = None,
    *,
    told: Annotated[
        bool,
        typer.Option("--told", help="In place of a file: rows of production whose truth came."),
    ] = False,
    role: Annotated[
        Role | None,
        typer.Option(help="What the rows are for; by default they are divided as those before."),
    ] = None,
    table: WhichTable = None,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Add the rows although a column of them looks broken.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Add rows to an application's data, as a new version, and search on it."""
    if (file is None) != told:
        raise InvalidInput(
            "Give a file or --told, one of them.",
            where="FILE",
            remedy=f"For example: easeml app feed {application_id} rows.csv",
        )
    with Client() as client:
        if file is None:
            version = client.wait_version_ready(client.feed_told(application_id).id)
        else:
            version = feed_and_wait(
                client, application_id, file, role, quiet=as_json, table=table, anyway=anyway
            )
    print_found(version, say_version, as_json=as_json)


@app.command("list")
def list_applications(as_json: Json = False) -> None:
    """List your applications."""
    with Client() as client:
        found = list(client.applications())
        print_found(found, partial(_print_all, client), as_json=as_json)


def _print_all(client: Client, found: list[Application]) -> None:
    titles = client.module_titles()
    columns = {
        "id": "id",
        "name": "name",
        "state": "state",
        "search": lambda one: one.job.state if one.job else None,
        "best so far": best_found,
        "serves": lambda one: served_title(one, titles),
        "created": "created",
        "waiting": lambda one: one.job.waiting_reason if one.job else None,
    }
    print_resources(found, columns)


@app.command()
def show(application_id: ApplicationId, as_json: Json = False) -> None:
    """Show an application: what it serves, what runs, what comes next."""
    with Client() as client:
        found = client.application(application_id)
        _answer(client, found, as_json)
        if as_json:
            return
        if found.job is not None and found.job.state == JobState.RUNNING:
            say(f"End of the search: {client.job_ending(found.job.id).text}")
        rules.say_rules(client.model_rules(application_id))


@app.command()
def watch(application_id: ApplicationId, as_json: Json = False) -> None:
    """Follow an application until its search ends; Ctrl-C leaves it running."""
    with Client() as client:
        found = watch_application(client, application_id, quiet=as_json)
    if as_json:
        print_json(found)


@app.command()
def wait(
    application_id: ApplicationId,
    until: Annotated[Milestone, typer.Option(help="What to wait for.")] = Milestone.FIRST_MODEL,
    timeout: Annotated[
        float | None, typer.Option(min=0, help="Seconds to wait at most (exit code 3).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Wait for the first model, or for the end of the search."""
    with Client() as client:
        tell = None if as_json else LastingReason().look
        found = client.wait(application_id, until=until.value, timeout=timeout, on_look=tell)
        print_found(found, partial(_say_reached, client, until), as_json=as_json)


def _say_reached(client: Client, until: Milestone, found: Application) -> None:
    title = served_title(found, client.module_titles())
    served = f", serves {title}" if title else ""
    say(f"{found.id}: {until.value} reached{served}.")


@app.command()
def promotions(application_id: ApplicationId, as_json: Json = False) -> None:
    """List the changes of what an application serves."""
    with Client() as client:
        found = list(client.promotions(application_id))
    columns = {
        "id": "id",
        "model": "model_id",
        "state": "state",
        "kind": "kind",
        "reason": "reason",
        "created": "created",
    }
    print_list(found, columns, as_json=as_json)


@app.command()
def rollback(
    application_id: ApplicationId,
    model: Annotated[
        str | None, typer.Option(help="Id of the model; the one before by default.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Serve an earlier model again."""
    with Client() as client:
        _answer(client, client.roll_back(application_id, model), as_json)


@app.command()
def pin(application_id: ApplicationId, as_json: Json = False) -> None:
    """Keep what is served now, whatever the search finds."""
    with Client() as client:
        _answer(client, client.pin(application_id), as_json)


@app.command()
def unpin(application_id: ApplicationId, as_json: Json = False) -> None:
    """Let better models be promoted again."""
    with Client() as client:
        _answer(client, client.unpin(application_id), as_json)


@app.command("try")
def try_model(
    application_id: ApplicationId,
    model: Annotated[str, typer.Option(help="Name of the model, as module list shows it.")],
    as_json: Json = False,
) -> None:
    """Train a model now: it gets the next device, before all that wait."""
    with Client() as client:
        found = client.try_model(application_id, model=model)
    doing = "runs" if found.state == TaskState.RUNNING else "gets the next device"
    sentence = f"{found.candidate} {doing}: task {found.task_id}."
    print_done(found, sentence, as_json=as_json)


def _answer(client: Client, application: Application, as_json: bool) -> None:
    def show(found: Application) -> None:
        print_application(found, client.module_titles())

    print_found(application, show, as_json=as_json)
