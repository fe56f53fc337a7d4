"""``gc``, ``app retention`` and ``model keep``: what is kept, and what goes by itself."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Annotated

import typer

from easeml.cli.options import ApplicationId, Json, given
from easeml.cli.output import print_done, print_found, print_pairs, print_table, say
from easeml.client import Client
from easeml.contract.retention import Amount, Collected, KeptKind, Retention, RetentionPlan


def register(root: typer.Typer) -> None:
    """Add the command of this module to the root."""
    root.command()(gc)


def add_to(app: typer.Typer) -> None:
    """Add the command of applications to ``app``."""
    app.command("retention")(of_application)


def gc(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be removed, and why.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Remove now what nobody needs any more (providers only); this also happens automatically."""
    with Client() as client:
        if dry_run:
            print_found(client.retention_plan(), _print_plan, as_json=as_json)
        else:
            print_found(client.collect(), _print_collected, as_json=as_json)


def _print_plan(plan: RetentionPlan) -> None:
    row_of = attrgetter("kind", "id", "application_id", "size", "why")
    print_table(["kind", "id", "application", "bytes", "why"], map(row_of, plan.items))
    _print(plan.amounts, "would go")


def _print_collected(done: Collected) -> None:
    _print(done.amounts, "went")
    say(f"{done.size:,} bytes are free again.")
    if KeptKind.MODELS in map(attrgetter("kind"), done.amounts):
        say("Models keep their files for a day more: easeml model keep MODEL has one back.")


def of_application(
    application_id: ApplicationId,
    *,
    models: Annotated[
        int | None, typer.Option(min=1, help="Best models of its newest search to keep.")
    ] = None,
    model_days: Annotated[
        float | None, typer.Option(min=0, help="Days after which the others are removed; 0: never.")
    ] = None,
    result_days: Annotated[
        float | None,
        typer.Option(min=0, help="Days after which predicted files are removed; 0: never."),
    ] = None,
    default: Annotated[
        bool, typer.Option("--default", help="Use the provider's settings.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show what is kept of an application; with options, change it."""
    told = given(models=models, model_days=model_days, result_days=result_days)
    with Client() as client:
        found = client.retention(application_id)
        if told or default:
            before = {} if default else found.asked.model_dump()
            found = client.set_retention(application_id, **{**before, **told})
    print_found(found, _print_rule, as_json=as_json)


def keep(
    model_id: Annotated[str, typer.Argument(help="Id of a model.")],
    release: Annotated[
        bool, typer.Option("--release", help="Leave it to the rules again.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Keep a model whatever the rules say; one that was retired today has its files back."""
    with Client() as client:
        found = client.keep_model(model_id, keep=not release)
    state = "left to the rules" if release else "kept"
    print_done(found, f"{found.name} is {state}.", as_json=as_json)


def _print(amounts: Sequence[Amount], verb: str) -> None:
    if not amounts:
        return say("Nothing: all that is kept is needed.")
    row_of = attrgetter("kind", "count", "size")
    return print_table([verb, "how many", "bytes"], map(row_of, amounts))


def _print_rule(found: Retention) -> None:
    facts = {
        "best models of the newest search that stay": found.models,
        "other models go": _spoken(found.model_days),
        "predicted files go": _spoken(found.result_days),
        "kept by somebody": found.kept,
        "retired, can be had back": found.retired,
    }
    print_pairs(facts.items())


def _spoken(days: float) -> str:
    return f"after {days:g} days" if days else "never"
