"""``app``: declare applications, look at them, and decide what they serve."""

from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from easeml.cli import asking, differing, gates, journey, keeping, production, rollouts
from easeml.cli.constraints import read_constraints
from easeml.cli.options import ApplicationId, Header, Json
from easeml.cli.output import is_interactive, moment, notes, print_json, print_table, say
from easeml.cli.showing import (
    ask_for_target,
    print_answer,
    print_application,
    print_proposal,
)
from easeml.cli.uploading import upload_with_progress
from easeml.cli.versions import feed_and_wait, say_version
from easeml.cli.watching import LastingReason, watch_application
from easeml.client import Client, Milestone, made_request
from easeml.contract.applications import Application, Declaration
from easeml.contract.datasets import Version
from easeml.contract.measures import best_found, in_unit
from easeml.contract.models import TrainedModel
from easeml.contract.states import TaskState
from easeml.errors import InvalidInput, TimedOut
from easeml.lifecycle.journey import Goal, read_goal


class Role(StrEnum):
    """What rows are for."""

    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"
    POOL = "pool"
    PRODUCTION = "production"


_GOAL_SECONDS = 120  # for an answer before Start

app = typer.Typer(no_args_is_help=True, help="Applications: from data to a served model.")


def register(root: typer.Typer) -> None:
    """Add the commands of this module to the root."""
    asking.add_to(app)
    journey.add_to(app)
    gates.add_to(app)
    differing.add_to(app)
    production.add_to(app)
    rollouts.add_to(app)
    keeping.add_to(app)
    root.add_typer(app, name="app")


@app.command()
def create(
    file: Annotated[
        Path,
        typer.Argument(
            help="A table, a zip file or folder of samples by class, arrays, series ..."
        ),
    ],
    *,
    target: Annotated[
        str | None, typer.Option(help="Column to predict; proposed where left out.")
    ] = None,
    objective: Annotated[
        str | None, typer.Option(help="What to optimise; the default of the target's type.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="COLUMN=TYPE, COLUMN.missing=CODES, COLUMN.format=FORM."),
    ] = None,
    drop: Annotated[list[str] | None, typer.Option(help="Column to leave out.")] = None,
    keep: Annotated[
        list[str] | None, typer.Option(help="Column to keep although proposed for dropping.")
    ] = None,
    split: Annotated[
        str,
        typer.Option(
            help="Rows to train and test: random, time:COLUMN, group:COLUMN or given:COLUMN."
        ),
    ] = "random",
    header: Header = None,
    name: Annotated[str | None, typer.Option(help="Name of the application.")] = None,
    models: Annotated[str | None, typer.Option(help="Only these models, with commas.")] = None,
    exclude: Annotated[str | None, typer.Option(help="Not these models, with commas.")] = None,
    max_latency: Annotated[
        float | None,
        typer.Option(min=0, help="Seconds that an ensemble may take to predict one row."),
    ] = None,
    constrain: Annotated[
        list[str] | None,
        typer.Option(help="MODEL.PARAMETER=VALUE, =VALUE,VALUE or =LOW..HIGH; repeatable."),
    ] = None,
    max_tasks: Annotated[int | None, typer.Option(min=1, help="Most candidates to train.")] = None,
    max_seconds: Annotated[
        float | None, typer.Option(min=0.001, help="Most device seconds to spend.")
    ] = None,
    deadline: Annotated[
        datetime | None, typer.Option(help="Local time by which training must be expected to end.")
    ] = None,
    goal: Annotated[
        str | None,
        typer.Option(
            metavar="GOAL",
            help='Such as 0.9, "accuracy >= 0.9" or "error below 5 %": say first whether it can '
            "be reached. A goal that names an objective chooses it.",
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Upload data, see what easeml makes of it, and start the search."""
    if not (yes or is_interactive()):
        raise InvalidInput(
            "There is no terminal to ask whether to start.",
            remedy="Look first: easeml schema infer FILE. Then say --yes.",
            where="--yes",
        )
    changes = _pairs(set_ or [])
    wanted = read_goal(goal) if goal else None
    objective = _objective_of(wanted, objective)
    with Client() as client:
        dataset = upload_with_progress(client, file, quiet=as_json, header=header)
        version = client.wait_version_ready(dataset.version.id)
        target = target or _asked_target(version)
        declaration = made_request(
            Declaration,
            dataset_id=dataset.id,
            version_id=dataset.version.id,
            name=name,
            target=target,
            objective=objective,
            set=changes,
            drop=drop or [],
            keep=keep or [],
            models=None if models is None else _names(models),
            exclude=_names(exclude or ""),
            max_latency=max_latency,
            constrain=read_constraints(constrain or []),
            split=split,
            max_tasks=max_tasks,
            max_seconds=max_seconds,
            deadline=None if deadline is None else deadline.astimezone(),
        )
        proposal = client.propose(declaration)
        if not as_json:
            print_proposal(proposal, declaration)
        if wanted is not None:
            _ask_for_goal(client, declaration, wanted, quiet=as_json)
        if not yes:
            typer.confirm("Start?", default=True, abort=True)
        application = _created(client, declaration, wanted)
    if as_json:
        print_json(application)
    else:
        say(f"Started {application.id} ({application.name}).")
        say(f"Watch it with: easeml app watch {application.id}")


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
def models(application_id: ApplicationId, as_json: Json = False) -> None:
    """List the trained models of an application, best first."""
    with Client() as client:
        application = client.application(application_id)
        found = list(client.models(application_id))
        if as_json:
            return print_json(found)
        titles = client.module_titles()
    rows = []
    for model in found:
        row = (
            model.id,
            titles.of(model.name),
            _measure_of(model, application.target),
            model.quality,
            model.version,
            moment(model.created),
            f"lost: {model.error}" if model.error else len(model.notes),
        )
        rows.append(row)
    say(f"Measured on validation rows. Score: {application.objective}, scaled so that 1 is best.")
    return print_table(
        ["id", "name", application.objective, "score", "version", "created", "notes"], rows
    )


def _measure_of(model: TrainedModel, target: str) -> str:
    """Return a model's measure in its own unit; models of older versions have a score alone."""
    value = in_unit(model.measure, target) if model.measure else "-"
    return value if model.comparable else f"{value} (on fewer rows)"


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


def _asked_target(version: Version) -> str | None:
    """Return the target that the user names where none suggests itself; None where none is asked."""
    if version.summary.get("target") or not is_interactive():
        return None
    return ask_for_target(version)


def _objective_of(goal: Goal | None, objective: str | None) -> str | None:
    """Return the objective to search by: what was named, also as a part of the goal."""
    if goal is None or not goal.objective:
        return objective
    if objective and objective != goal.objective:
        raise InvalidInput(
            f"The goal is about {goal.objective}, and the objective is {objective}.",
            where="--goal",
            remedy="Name one of them.",
        )
    return goal.objective


def _created(client: Client, declaration: Declaration, goal: Goal | None) -> Application:
    application = client.create_application(declaration)
    if goal is not None:
        client.set_goal(application.id, goal.text)
    return application


def _ask_for_goal(client: Client, declaration: Declaration, goal: Goal, quiet: bool) -> None:
    """Ask whether a goal can be reached, and print the answer where it comes soon enough.

    The answer is kept with the application in any case.
    """
    if not goal.is_judged:
        message = f"Whether {goal.text} can be reached cannot be told before Start: "
        notes().print(message + "only goals of accuracy and R2 can.", markup=False)
        return
    task = client.ask_tool_before_start(declaration, "feasibility", goal=goal.value)
    if quiet:
        return
    say(f"Finding out whether {goal.text} can be reached; waiting {_GOAL_SECONDS} s at most.")
    try:
        client.wait_task(task.id, timeout=_GOAL_SECONDS)
    except TimedOut:
        say("There is no answer yet. It will be kept with the application.")
        return
    for report in client.version_reports(declaration.version_id or ""):
        if report.task_id == task.id:
            print_answer(report)


def _answer(client: Client, application: Application, as_json: bool) -> None:
    if as_json:
        print_json(application)
    else:
        print_application(application, client.module_titles())


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _pairs(options: list[str]) -> dict[str, str]:
    """Return ``COLUMN=TYPE`` options as a dict; the last ``=`` separates, for columns may hold one."""
    pairs = {}
    for option in options:
        column, found, kind = option.rpartition("=")
        if not found or not column or not kind:
            raise InvalidInput(
                f"{option!r} is not COLUMN=TYPE.",
                where="--set",
                remedy="Write, say, --set age=category.",
            )
        pairs[column] = kind
    return pairs
