"""``app``: declare applications, look at them, and decide what they serve."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from easeml.cli import (
    asking,
    creating,
    differing,
    gates,
    histories,
    journey,
    keeping,
    leaderboard,
    production,
    remedies,
    retention,
    rollouts,
    rules,
)
from easeml.cli.options import ApplicationId, Json
from easeml.cli.output import moment, print_json, print_table, say
from easeml.cli.showing import (
    print_application,
)
from easeml.cli.versions import feed_and_wait, say_version
from easeml.cli.watching import LastingReason, watch_application
from easeml.client import Client, Milestone
from easeml.contract.applications import Application
from easeml.contract.measures import best_found
from easeml.contract.states import TaskState


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
    rollouts.add_to(app)
    retention.add_to(app)
    rules.add_to(app)
    leaderboard.add_to(app)
    keeping.add_to(app)
    app.command()(histories.learn)
    remedies.add_to(app)
    root.add_typer(app, name="app")


@app.command()
def feed(
    application_id: ApplicationId,
    file: Annotated[Path, typer.Argument(help="Rows with the columns of the application's data.")],
    *,
    role: Annotated[
        Role | None,
        typer.Option(help="What the rows are for; by default they are divided as those before."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Add rows to an application's data, as a new version, and search on it."""
    with Client() as client:
        version = feed_and_wait(
            client, application_id, file, role.value if role else None, quiet=as_json
        )
    if as_json:
        print_json(version)
    else:
        say_version(version)


@app.command("list")
def list_applications(as_json: Json = False) -> None:
    """List your applications."""
    with Client() as client:
        found = list(client.applications())
        if as_json:
            return print_json(found)
        titles = client.module_titles()
    rows = []
    for one in found:
        job, model = one.job, one.live_model
        row = (
            one.id,
            one.name,
            one.state,
            job.state if job else None,
            best_found(one),
            titles.of(model.name) if model else None,
            moment(one.created),
            job.waiting_reason if job else None,
        )
        rows.append(row)
    headings = ["id", "name", "state", "search", "best so far", "serves", "created", "waiting"]
    return print_table(headings, rows)


@app.command()
def show(application_id: ApplicationId, as_json: Json = False) -> None:
    """Show an application: what it serves, what runs, what comes next."""
    with Client() as client:
        _answer(client, client.application(application_id), as_json)
        if not as_json:
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
        if as_json:
            return print_json(found)
        titles = client.module_titles()
    served = f", serves {titles.of(found.live_model.name)}" if found.live_model else ""
    return say(f"{found.id}: {until.value} reached{served}.")


@app.command()
def promotions(application_id: ApplicationId, as_json: Json = False) -> None:
    """List the changes of what an application serves."""
    with Client() as client:
        found = list(client.promotions(application_id))
    if as_json:
        return print_json(found)
    rows = [
        (one.id, one.model_id, one.state, one.kind, one.reason, moment(one.created))
        for one in found
    ]
    return print_table(["id", "model", "state", "kind", "reason", "created"], rows)


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
    """Train a model now: it gets the next device, before what others wait for."""
    with Client() as client:
        found = client.try_model(application_id, model=model)
    if as_json:
        print_json(found)
        return
    doing = "runs" if found.state == TaskState.RUNNING else "gets the next device"
    say(f"{found.candidate} {doing}: task {found.task_id}.")


def _answer(client: Client, application: Application, as_json: bool) -> None:
    if as_json:
        print_json(application)
    else:
        print_application(application, client.module_titles())
