"""``app rules``: what every model of an application has to keep, and what that leaves out."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import typer

from easeml.cli.model_rules import bytes_of, read_monotonic, seconds_of
from easeml.cli.options import ApplicationId, Json, given
from easeml.cli.output import print_found, print_pairs, print_table_of_any, say
from easeml.client import Client, made_request
from easeml.contract.knowledge import Titles
from easeml.contract.model_rules import LeftOut, ModelRules, NewModelRules

_NONE = "none"
_NOTHING: dict[str, Any] = {  # what a rule is where none is asked for
    "max_latency": None,
    "max_size": None,
    "monotonic": {},
    "optimizer": "",
}
_READERS: dict[str, Callable[[Any], Any]] = {
    "max_latency": seconds_of,
    "max_size": bytes_of,
    "monotonic": read_monotonic,
    "optimizer": str,
}


def add_to(app: typer.Typer) -> None:
    """Add the command to those of applications."""
    app.command("rules")(rules)


def rules(
    application_id: ApplicationId,
    *,
    max_latency: Annotated[
        str | None,
        typer.Option(
            help="Longest time of a model to predict one row, such as 20ms; none: no limit."
        ),
    ] = None,
    max_size: Annotated[
        str | None, typer.Option(help="Largest size of its files, such as 5MB; none: no limit.")
    ] = None,
    monotonic: Annotated[
        list[str] | None,
        typer.Option(
            help="COLUMN=rising or =falling: the prediction never goes against it; repeatable, "
            "all that are wanted; none: no column."
        ),
    ] = None,
    optimizer: Annotated[
        str | None,
        typer.Option(help="Optimizer that proposes configurations; none: the provider's choice."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the rules for models that serve, and which models break them; or change the rules.

    What is not named stays as it is.
    """
    changes = given(
        max_latency=max_latency, max_size=max_size, monotonic=monotonic, optimizer=optimizer
    )
    with Client() as client:
        found = client.model_rules(application_id)
        if changes:
            found = client.set_model_rules(application_id, _changed(found, changes))
        titles = client.module_titles()
    print_found(found, partial(_print_rules, titles), as_json=as_json)


def _print_rules(titles: Titles, found: ModelRules) -> None:
    pairs = told_pairs(found)
    if not pairs:
        return say("Any model that fits may serve.")
    print_pairs(pairs)
    rows = list(map(partial(_left_out_row, titles), found.left_out))
    return print_table_of_any(["left out", "which", "why"], rows)


def _left_out_row(titles: Titles, one: LeftOut) -> tuple[str, ...]:
    name = titles.of(one.name)
    which = f"{name} ({one.id})" if one.id else name
    return one.what, which, one.reason


def say_rules(rules: ModelRules) -> None:
    """Print what models have to keep, and of what is left out how much; nothing without rules."""
    if rules.asks_anything:
        print_pairs(told_pairs(rules))
        say(f"Left out and why: easeml app rules {rules.application_id}")


def told_pairs(rules: ModelRules) -> list[tuple[str, object]]:
    """Return the rules with their names, for people."""
    pairs: list[tuple[str, object]] = []
    if rules.max_latency is not None:
        pairs.append(("largest latency", f"{1000 * rules.max_latency:.3g} ms for a row"))
    if rules.max_size is not None:
        pairs.append(("largest size", f"{rules.max_size:,} bytes"))
    for column, way in rules.monotonic.items():
        pairs.append((f"{way} with", column))
    if rules.optimizer:
        pairs.append(("configurations by", rules.optimizer))
    if rules.asks_anything:
        pairs.append(("models that keep this", f"{rules.keeping} of {rules.trained}"))
    return pairs


def _changed(before: ModelRules, changes: dict[str, Any]) -> NewModelRules:
    """Return the rules with those that were named; what is not stays as it was."""
    wanted: dict[str, Any] = {
        "max_latency": before.max_latency,
        "max_size": before.max_size,
        "monotonic": dict(before.monotonic),
        "optimizer": before.optimizer,
    }
    for name, told in changes.items():
        takes_away = told in (_NONE, [_NONE])
        wanted[name] = _NOTHING[name] if takes_away else _READERS[name](told)
    return made_request(NewModelRules, **wanted)
