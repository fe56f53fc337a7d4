"""``app rollout``: how a better model comes to serve, and what the comparison says."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from easeml.cli.differing import model_named
from easeml.cli.options import ApplicationId, Json, at_most_one, checked, comma_separated, given
from easeml.cli.output import moment, print_found, print_pairs, say
from easeml.client import Client
from easeml.contract.knowledge import Titles
from easeml.contract.rollouts import EndRollout, NewRollout, NewRolloutRule, Rollout, Rollouts
from easeml.contract.states import RolloutEnd, RolloutState, RolloutWay, TruthWay
from easeml.errors import InvalidInput


class _Way(StrEnum):
    """How a better model comes to serve; what follows a release (``after``) is said by --days."""

    AT_ONCE = RolloutWay.AT_ONCE.value
    SHADOW = RolloutWay.SHADOW.value
    SHARE = RolloutWay.SHARE.value


_AFTER = {RolloutState.RUNNING: "compared"}


def add_to(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command()(rollout)


def rollout(
    application_id: ApplicationId,
    *,
    way: Annotated[_Way | None, typer.Option(help="How better models go live from now on.")] = None,
    tolerance: Annotated[
        float | None, typer.Option(help="By how much a model may be worse; .02 by default.")
    ] = None,
    reliability: Annotated[
        float | None, typer.Option(help="One minus the chance of each error; .95 by default.")
    ] = None,
    shares: Annotated[
        str, typer.Option(help="Of the requests that the new model answers, as 0.1,0.25,0.5.")
    ] = "",
    scale: Annotated[
        float | None, typer.Option(help="Of a target that is a number: the largest that counts.")
    ] = None,
    days: Annotated[
        float | None,
        typer.Option(
            help="After a release: how long the model before is compared with it, and serves again "
            "where it is proven better; 0: not."
        ),
    ] = None,
    truth: Annotated[
        TruthWay | None,
        typer.Option(help="Which requests have a truth: any, or such that were chosen by chance."),
    ] = None,
    model: Annotated[
        str,
        typer.Option(help="Compare this model now, by id or name; --way says how."),
    ] = "",
    promote: Annotated[
        bool, typer.Option("--promote", help="Let the model that is compared serve now.")
    ] = False,
    stop: Annotated[
        bool, typer.Option("--stop", help="End the comparison; the model that serves stays.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Compare a better model with the one that serves on live requests, before it serves."""
    told = given(tolerance=tolerance, reliability=reliability, scale=scale, days=days, truth=truth)
    if shares:
        told["shares"] = comma_separated(shares)
    too_much = InvalidInput(
        "Ask for one thing at a time.", where="--model, --promote, --stop, or a rule"
    )
    at_most_one(model, promote, stop, told, otherwise=too_much)
    with Client() as client:
        if model:
            found = _started(client, application_id, model, way)
        elif promote or stop:
            end = RolloutEnd.PROMOTE if promote else RolloutEnd.STOP
            found = client.end_rollout(application_id, EndRollout(end=end))
        else:
            found = client.rollouts(application_id)
            wish = told | given(way=way)
            if wish:
                found = client.set_rollout_rule(application_id, _rule(found, wish))
        titles = client.module_titles()
    print_found(found, lambda told: _print(_titled(told, titles)), as_json=as_json)


def _titled(found: Rollouts, titles: Titles) -> Rollouts:
    """Return comparisons that call models by their titles."""
    every = [*found.rollouts, *found.released]
    names = {name for one in every for name in (one.challenger, one.champion)}

    def titled(one: Rollout) -> Rollout:
        called = {
            "challenger": titles.of(one.challenger),
            "champion": titles.of(one.champion),
            "says": titles.in_sentence(one.says, *names),
        }
        return one.model_copy(update=called)

    rollouts, released = list(map(titled, found.rollouts)), list(map(titled, found.released))
    return found.model_copy(update={"rollouts": rollouts, "released": released})


def _started(client: Client, application_id: str, model: str, way: _Way | None) -> Rollouts:
    """Start the comparison of a model, named by its id or name, with the one that serves."""
    trained = list(client.models(application_id))
    told = {"model_id": model_named(trained, model, {}, client.module_titles()).id, "way": way}
    wish = checked(NewRollout, told)
    return client.start_rollout(application_id, wish)


def _rule(before: Rollouts, told: dict[str, Any]) -> NewRolloutRule:
    """Return the rule that is asked for: what was not named stays as it was."""
    names = ("way", "tolerance", "reliability", "shares", "scale", "days", "truth")
    kept = {name: getattr(before, name) for name in names}
    return checked(NewRolloutRule, kept | told)


def _print(found: Rollouts) -> None:
    say(found.promise)
    if found.way != RolloutWay.AT_ONCE and not found.keeps_requests:
        say(f"No requests are kept: easeml app log {found.application_id} --share 1")
    for one in found.rollouts:
        _print_one(one)
    say(found.watches)
    for one in found.released:
        _print_released(one)


def _print_one(one: Rollout) -> None:
    runs = one.state == RolloutState.RUNNING
    to_come = f"about {one.to_come:,}" if runs and one.to_come else None
    print_pairs(
        [
            ("challenger", f"{one.challenger} ({one.model_id})"),
            ("champion", f"{one.champion} ({one.against_id})"),
            ("since", moment(one.created)),
            ("state", _running(one) if runs else one.state),
            ("rows compared", one.compared),
            ("predictions that change", one.changed),
            ("better, worse, alike", f"{one.better:,}, {one.worse:,}, {one.alike:,}"),
            ("largest error that counts", one.scale or None),
            ("truths not understood", one.unknown or None),
            ("requests it failed on", one.failures or None),
            ("requests to come", to_come),
        ]
    )
    say(one.says)


def _print_released(one: Rollout) -> None:
    print_pairs(
        [
            ("released", f"{one.challenger} ({one.model_id})"),
            ("before it", f"{one.champion} ({one.against_id})"),
            ("since", moment(one.created)),
            ("state", _AFTER.get(one.state, one.state)),
            ("better, worse, alike", f"{one.better:,}, {one.worse:,}, {one.alike:,}"),
        ]
    )
    say(one.says)


def _running(one: Rollout) -> str:
    if one.way == RolloutWay.SHADOW:
        return "predicts beside the model that answers"
    return f"answers {one.share:.0%} of the requests"
