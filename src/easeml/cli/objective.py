"""``app objective``: what the models of an application are judged by, and another one."""

from typing import Annotated

import typer

from easeml.cli import declaration_options as options
from easeml.cli.costs import read_costs_file
from easeml.cli.options import ApplicationId, Json
from easeml.cli.output import print_found, print_table, say, say_aside
from easeml.client import Client, made_request
from easeml.contract.applications import ObjectiveOption
from easeml.contract.measures import called
from easeml.contract.objectives import NewObjective, ObjectiveChoice


def add_to(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command("objective")(objective)


def objective(
    application_id: ApplicationId,
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="The new one; left out: list what fits.")
    ] = "",
    *,
    costs: options.Costs = None,
    cost_unit: options.CostUnit = "",
    as_json: Json = False,
) -> None:
    """Show what models are judged by, or change it: what was trained is judged anew at once."""
    with Client() as client:
        before = client.objective(application_id)
        if not name and costs is None:
            return print_found(before, _print_choice, as_json=as_json)
        wish = made_request(
            NewObjective,
            objective=name or None,
            costs=read_costs_file(costs) if costs else None,
            cost_unit=cost_unit,
        )
        found = client.change_objective(application_id, wish)
    is_new = found.objective != before.objective

    def say_changed(found: ObjectiveChoice) -> None:
        if not is_new:
            return say(f"Models are judged by {called(found.objective)} already.")
        say(f"Models are judged by {called(found.objective)} now, and the search goes on by it.")
        if found.kept:
            say(f"{_trained(found)} judged by what they predicted; none is trained again.")
        return say_aside(*found.remarks)

    return print_found(found, say_changed, as_json=as_json)


def _print_choice(found: ObjectiveChoice) -> None:
    print_table(["objective", "", "what it is"], map(_row, found.options))
    for family in found.families:
        say_aside(f"{family.title}: {family.example}")
    say(f"{_trained(found)} judged by another one without being trained again.")
    say_aside(*found.remarks)


def _row(one: ObjectiveOption) -> tuple[str, ...]:
    return _short(one.name), "in use" if one.default else "", one.about or one.title


def _short(name: str) -> str:
    """Return a name as it is typed, without a table of costs."""
    return "cost" if name.startswith("cost(") else name


def _trained(found: ObjectiveChoice) -> str:
    if found.kept == 1:
        return "1 trained model is"
    return f"{found.kept} trained models are"
