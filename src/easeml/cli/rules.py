"""``app rules``: what every model of an application has to keep, and what that leaves out."""

from typing import Annotated

import typer

from easeml.cli.model_rules import bytes_of, read_monotonic, seconds_of
from easeml.cli.options import ApplicationId, Json
from easeml.cli.output import print_json, print_pairs, print_table, say
from easeml.client import Client, made_request
from easeml.contract.model_rules import ModelRules, NewModelRules

_NONE = "none"


def add_to(app: typer.Typer) -> None:
    """Add the command to those of applications."""
    app.command("rules")(rules)


def rules(
    application_id: ApplicationId,
    *,
    max_latency: Annotated[
        str | None,
        typer.Option(help="What a model may take to predict one row, such as 20ms; none: any."),
    ] = None,
    max_size: Annotated[
        str | None, typer.Option(help="What its files may take, such as 5MB; none: any.")
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
        typer.Option(help="What proposes configurations; none: what the provider chose for all."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what every model that serves has to keep, and what that leaves out; or change it.

    What is not named stays as it is.
    """
    with Client() as client:
        found = client.model_rules(application_id)
        if (max_latency, max_size, monotonic, optimizer) != (None, None, None, None):
            wish = _changed(found, max_latency, max_size, monotonic, optimizer)
            found = client.set_model_rules(application_id, wish)
        titles = client.module_titles()
    if as_json:
        return print_json(found)
    if not (found.asks_anything or found.optimizer):
        return say("Any model that fits may serve.")
    print_pairs(told_pairs(found))
    rows = []
    for one in found.left_out:
        name = f"{titles.of(one.name)} ({one.id})" if one.id else titles.of(one.name)
        rows.append((one.what, name, one.reason))
    if rows:
        print_table(["left out", "which", "why"], rows)
    return None


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


def _changed(
    found: ModelRules,
    max_latency: str | None,
    max_size: str | None,
    monotonic: list[str] | None,
    optimizer: str | None,
) -> NewModelRules:
    latency = found.max_latency
    size = found.max_size
    held = dict(found.monotonic)
    proposing = found.optimizer if optimizer is None else optimizer
    if max_latency is not None:
        latency = None if max_latency == _NONE else seconds_of(max_latency)
    if max_size is not None:
        size = None if max_size == _NONE else bytes_of(max_size)
    if monotonic is not None:
        held = {} if monotonic == [_NONE] else dict(read_monotonic(monotonic))
    return made_request(
        NewModelRules,
        max_latency=latency,
        max_size=size,
        monotonic=held,
        optimizer="" if proposing == _NONE else proposing,
    )
