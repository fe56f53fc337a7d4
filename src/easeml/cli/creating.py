"""``app create``: from data to a search that is under way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import typer

from easeml.cli import declaration_options as options
from easeml.cli.constraints import read_constraints
from easeml.cli.costs import read_costs_file
from easeml.cli.model_rules import bytes_of, read_monotonic, seconds_of
from easeml.cli.named_data import dataset_of
from easeml.cli.options import Header, Json, WhichTable, comma_separated, given
from easeml.cli.output import check_can_ask, is_interactive, print_told, say, say_aside
from easeml.cli.showing import (
    ask_for_target,
    default_objective,
    print_answer,
    print_proposal,
)
from easeml.client import Client, made_request
from easeml.contract.applications import Application, Declaration, one_a_target
from easeml.contract.datasets import Version, notes_beside
from easeml.contract.journey import FORECAST_IS_NOT_JUDGED, asked_of_goal
from easeml.errors import Conflict, InvalidInput, TimedOut
from easeml.objective_names import meant

if TYPE_CHECKING:  # it imports numpy, which most commands about applications do without
    from easeml.lifecycle.journey import Goal

_GOAL_SECONDS = 120  # for an answer before Start
_READERS: dict[str, Callable[[Any], Any]] = {  # of the options that are written in a form
    "costs": read_costs_file,
    "drop": list,
    "keep": list,
    "models": comma_separated,
    "exclude": comma_separated,
    "max_latency": seconds_of,
    "max_size": bytes_of,
    "monotonic": read_monotonic,
    "constrain": read_constraints,
    "deadline": datetime.astimezone,
}


def add_to(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command()(create)


def create(
    data: options.Data,
    *,
    query: options.Query = "",
    target: options.Targets = None,
    together: options.Together = False,
    objective: options.Objective = None,
    costs: options.Costs = None,
    cost_unit: options.CostUnit = "",
    set_: options.Set = None,
    drop: options.Drop = None,
    keep: options.Keep = None,
    split: options.SplitBy = "random",
    weight: options.Weight = None,
    ahead: options.Ahead = None,
    series: options.Series = None,
    past_only: options.PastOnly = None,
    header: Header = None,
    table: WhichTable = None,
    name: options.Name = None,
    models: options.Models = None,
    exclude: options.Exclude = None,
    max_latency: options.MaxLatency = None,
    max_size: options.MaxSize = None,
    monotonic: options.Monotonic = None,
    optimizer: options.Optimizer = "",
    constrain: options.Constrain = None,
    max_tasks: options.MaxTasks = None,
    max_seconds: options.MaxSeconds = None,
    deadline: options.Deadline = None,
    goal: options.GoalText = None,
    yes: options.Yes = False,
    as_json: Json = False,
) -> None:
    """Upload data, see what easeml makes of it, and start the search.

    Data that lies elsewhere is fetched from its address; data that is here is named by its id.
    """
    if not yes:
        nobody = InvalidInput(
            "There is no terminal to ask whether to start.",
            remedy="Look first: easeml schema infer FILE. Then say --yes.",
            where="--yes",
        )
        check_can_ask(nobody)
    changes = _pairs(set_ or [])
    wanted = _goal_of(goal)
    objective = _objective_of(wanted, objective)
    with Client() as client:
        dataset = dataset_of(client, data, query=query, header=header, table=table, quiet=as_json)
        version = client.wait_version_ready(dataset.version.id)
        targets = target or []
        _check_together(targets, together=together)
        say_aside(*_notes(version, [" + ".join(targets)] if together else targets or [None]))
        declaration = made_request(
            Declaration,
            dataset_id=dataset.id,
            version_id=version.id,
            name=name,
            target=next(iter(targets), None) or _asked_target(version),
            together=targets[1:] if together else [],
            objective=objective,
            cost_unit=cost_unit,
            set=changes,
            optimizer=optimizer,
            split=split,
            weight=weight,
            forecast=_forecast_of(ahead, series, past_only),
            max_tasks=max_tasks,
            max_seconds=max_seconds,
            **_read(
                costs=costs,
                drop=drop,
                keep=keep,
                models=models,
                exclude=exclude,
                max_latency=max_latency,
                max_size=max_size,
                monotonic=monotonic,
                constrain=constrain,
                deadline=deadline,
            ),
        )
        declarations = [declaration]
        is_one_each = len(targets) > 1 and not together
        if is_one_each:
            declarations = one_a_target(declaration, targets, dataset.name)
        for one in declarations:
            with _told_of(one.target if is_one_each else None):
                _propose(client, one, wanted, quiet=as_json)
        if not yes:
            typer.confirm("Start?", default=True, abort=True)
        made = [_created(client, one, wanted) for one in declarations]
    document = made if len(made) > 1 else made[0]
    print_told(document, partial(_say_started, made), as_json=as_json)


@contextmanager
def _told_of(target: str | None) -> Iterator[None]:
    """Let what a block finds wrong tell which of several targets it is about; None: there is one."""
    try:
        yield
    except InvalidInput as error:
        if target is None:
            raise
        where = ", ".join(filter(None, (error.where, f"--target '{target}'")))
        raise InvalidInput(error.message, where=where, remedy=error.remedy) from error


def _check_together(targets: Sequence[str], *, together: bool) -> None:
    if together and len(targets) < 2:
        raise InvalidInput(
            "One column is no several.",
            where="--together",
            remedy="Name each: --target A --target B --together.",
        )


def _notes(version: Version, targets: Iterable[str | None]) -> dict[str, None]:
    """Return once what is to be said of an upload whose columns are predicted; in order."""
    notes = map(partial(notes_beside, version), targets)
    return dict.fromkeys(chain.from_iterable(notes))


def _read(**options: Any) -> dict[str, Any]:
    """Return what the options that were given say. Raises ``InvalidInput``."""
    return {name: _READERS[name](told) for name, told in given(**options).items()}


def _say_started(made: Iterable[Application]) -> None:
    for one in made:
        say(f"Started {one.id} ({one.name}).")
        say(f"Watch it with: easeml app watch {one.id}")


def _propose(client: Client, declaration: Declaration, goal: Goal | None, *, quiet: bool) -> None:
    """Show what would be searched, and whether the goal can be reached, before anything starts."""
    proposal = client.propose(declaration)
    if not quiet:
        print_proposal(proposal, declaration)
    if goal is not None:
        named = goal.of(default_objective(proposal))
        _ask_for_goal(client, declaration, named, quiet=quiet)


def _forecast_of(
    ahead: int | None, series: list[str] | None, past_only: list[str] | None
) -> dict[str, Any] | None:
    """Return how the target is forecast; None where it is not."""
    if ahead is not None:
        return {"ahead": ahead, "series": series or [], "past_only": past_only or []}
    told = series or past_only
    if told:
        raise InvalidInput(
            f"Only a forecast has series and a past, and {told[0]!r} is to be of one.",
            where="--forecast",
            remedy="Say how many steps ahead: --forecast STEPS.",
        )
    return None


def _asked_target(version: Version) -> str | None:
    """Return the target that the user names where none suggests itself; None where none is asked."""
    if version.summary.get("target") or not is_interactive():
        return None
    return ask_for_target(version)


def _goal_of(said: str | None) -> Goal | None:
    if not said:
        return None
    from easeml.lifecycle.journey import read_goal

    return read_goal(said)


def _objective_of(goal: Goal | None, objective: str | None) -> str | None:
    """Return the objective to search by: what was named, also as a part of the goal."""
    if goal is None or not goal.objective:
        return objective
    if objective and meant(objective) != goal.objective:
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
    asked = asked_of_goal(goal.objective, goal.value)
    reason = "only goals of accuracy, balanced accuracy, R2 and rmse can."
    if declaration.forecast is not None:
        reason = FORECAST_IS_NOT_JUDGED
    if not asked or declaration.forecast is not None:
        say_aside(f"Whether {goal.text} can be reached cannot be told before Start: {reason}")
        return
    task = client.ask_tool_before_start(declaration, "feasibility", **asked)
    if quiet:
        return
    say(f"Finding out whether {goal.text} can be reached; waiting {_GOAL_SECONDS} s at most.")
    try:
        client.wait_task(task.id, timeout=_GOAL_SECONDS)
    except TimedOut:
        say("There is no answer yet. It will be kept with the application.")
    except Conflict as failed:  # a goal that nobody can judge keeps nobody from searching
        say(f"Whether {goal.text} can be reached cannot be told. {failed.message}")
    else:
        _print_report(client, declaration, task.id)


def _print_report(client: Client, declaration: Declaration, task_id: str) -> None:
    """Print what a task found of a version's data."""
    for report in client.version_reports(declaration.version_id or ""):
        if report.task_id == task_id:
            print_answer(report)


def _pairs(options: list[str]) -> dict[str, str]:
    """Return ``COLUMN=TYPE`` options as a dict; the last ``=`` separates, for columns may hold one."""
    pairs = {}
    for option in options:
        column, _, kind = option.rpartition("=")
        if not (column and kind):  # without a sign, all of it is the kind
            raise InvalidInput(
                f"{option!r} is not COLUMN=TYPE.",
                where="--set",
                remedy="Write, say, --set age=category.",
            )
        pairs[column] = kind
    return pairs
