"""``app create``: from a file to a search that is under way."""

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from easeml.cli.constraints import read_constraints
from easeml.cli.costs import costs_asked
from easeml.cli.model_rules import latency_asked, monotonic_asked, size_asked
from easeml.cli.options import Header, Json
from easeml.cli.output import is_interactive, notes, print_json, say
from easeml.cli.showing import (
    ask_for_target,
    default_objective,
    print_answer,
    print_proposal,
)
from easeml.cli.uploading import upload_with_progress
from easeml.client import Client, made_request
from easeml.contract.applications import Application, Declaration
from easeml.contract.datasets import Version
from easeml.errors import InvalidInput, TimedOut
from easeml.lifecycle.journey import Goal, read_goal

_GOAL_SECONDS = 120  # for an answer before Start


def add_to(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command()(create)


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
        str | None,
        typer.Option(
            help="What to optimise; the default of the target's type. Of a class: recall(bad), "
            "f-beta(bad, 2)."
        ),
    ] = None,
    costs: Annotated[
        Path | None,
        typer.Option(
            help="A CSV table of what each confusion costs, for the objective cost: a row for what "
            "is true, a column for what is said."
        ),
    ] = None,
    cost_unit: Annotated[str, typer.Option(help="The unit of these costs, such as EUR.")] = "",
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
        str | None,
        typer.Option(help="What a model may take to predict one row, such as 20ms."),
    ] = None,
    max_size: Annotated[
        str | None, typer.Option(help="What the files of a model may take, such as 5MB.")
    ] = None,
    monotonic: Annotated[
        list[str] | None,
        typer.Option(
            help="COLUMN=rising or =falling: the prediction (of two classes, the probability of the "
            "second) never goes against it; repeatable."
        ),
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
            costs=costs_asked(costs),
            cost_unit=cost_unit,
            set=changes,
            drop=drop or [],
            keep=keep or [],
            models=None if models is None else _names(models),
            exclude=_names(exclude or ""),
            max_latency=latency_asked(max_latency),
            max_size=size_asked(max_size),
            monotonic=monotonic_asked(monotonic),
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
            named = wanted.of(default_objective(proposal))
            _ask_for_goal(client, declaration, named, quiet=as_json)
        if not yes:
            typer.confirm("Start?", default=True, abort=True)
        application = _created(client, declaration, wanted)
    if as_json:
        print_json(application)
    else:
        say(f"Started {application.id} ({application.name}).")
        say(f"Watch it with: easeml app watch {application.id}")


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
