"""``app goal`` and ``app next``: what an application is to reach, and what to do next."""

import math
from operator import attrgetter
from typing import Annotated

import typer

from easeml.cli.options import ApplicationId, Json, at_most_one
from easeml.cli.output import plural, print_done, print_found, print_table, say
from easeml.client import Client
from easeml.contract.journey import Action, Goal, GoalPart, Journey
from easeml.contract.measures import called
from easeml.errors import InvalidInput


def add_to(app: typer.Typer) -> None:
    """Add the commands to ``app``."""
    app.command("goal")(set_goal)
    app.command("next")(show_next)


def set_goal(
    application_id: ApplicationId,
    goal: Annotated[
        str,
        typer.Argument(help='Such as "balanced-accuracy >= 0.9"; left out: show the goal.'),
    ] = "",
    *,
    none: Annotated[bool, typer.Option("--none", help="Remove the goal.")] = False,
    as_json: Json = False,
) -> None:
    """Set the goal of an application and find out whether it can be reached, or show it."""
    not_both = InvalidInput("A goal is set or taken back, not both.", where="--none")
    at_most_one(goal, none, otherwise=not_both)
    with Client() as client:
        if goal or none:
            found = client.set_goal(application_id, goal)
        else:
            found = client.goal(application_id)
    print_done(found, _told(found), as_json=as_json)


def show_next(application_id: ApplicationId, as_json: Json = False) -> None:
    """Say what to do next: at most three actions, each with its reason, gain and cost."""
    with Client() as client:
        found = client.next_actions(application_id)
    print_found(found, print_journey, as_json=as_json)


def print_journey(found: Journey) -> None:
    """Print the goal, the stations and the actions."""
    say(_told(found.goal))
    row_of = attrgetter("name", "state", "said")
    print_table(["station", "state", ""], map(row_of, found.stations))
    for place, action in enumerate(found.actions, 1):
        say(f"{place}. {action.title} ({action.kind}). {action.reason}")
        costs = _costs(action)
        if costs:
            say(f"   {costs}")


def _told(goal: Goal) -> str:
    if not goal.text:
        return "No goal is set."
    by = "" if goal.objective in goal.text else f" (by {called(goal.objective)})"
    return "\n".join([f"Goal: {goal.text}{by}.", *map(_told_part, goal.parts)])


def _told_part(part: GoalPart) -> str:
    """Return a further condition with what serves has of it."""
    now = "it is not measured yet" if part.now is None else f"it is {part.now:.4g}"
    state = "holds" if part.holds else "not met"
    return f"  {state}: {part.text} ({now}, on validation rows)"


def _costs(action: Action) -> str:
    """Return what an action should gain and cost."""
    parts = []
    low, high = action.interval or (0.0, 0.0)
    if high > 0:
        parts.append(f"Expected gain of score {action.gain:.2g} ({low:.2g} to {high:.2g}).")
    if action.human_minutes:
        parts.append(f"About {_time_of_people(action.human_minutes)} of a person.")
    if action.device_seconds:
        parts.append(f"About {action.device_seconds:.0f} s of a device.")
    return " ".join(parts)


def _time_of_people(minutes: float) -> str:
    """Say minutes; of two hours and more whole hours."""
    whole = math.ceil(minutes)
    if whole < 120:
        return f"{whole} {plural(whole, 'minute')}"
    return f"{math.ceil(whole / 60)} hours"
