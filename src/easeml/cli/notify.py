"""``notify``: what easeml tells by itself, and where else it is sent."""

import re
from typing import Annotated

import typer

from easeml.cli.named_applications import application_or
from easeml.cli.options import Json, comma_separated, exactly_one
from easeml.cli.output import print_found, print_list, print_resources, say
from easeml.client import Client
from easeml.contract.notifications import Notification
from easeml.contract.states import SubscriptionState, SubscriptionWay
from easeml.contract.subscriptions import Subscription
from easeml.errors import InvalidInput

notify = typer.Typer(no_args_is_help=True, help="Notifications, and where they are sent.")
SubscriptionId = Annotated[str, typer.Argument(metavar="ID", help="See `easeml notify list`.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the root."""
    app.add_typer(notify, name="notify")


@notify.command()
def news(
    limit: Annotated[int, typer.Option(min=1, max=500, help="How many at most.")] = 20,
    as_json: Json = False,
) -> None:
    """Show the newest notifications."""
    with Client() as client:
        found = client.notifications(limit=limit)
    columns = {"when": "created", "about": _about, "what": "text"}
    print_list(found.items, columns, as_json=as_json, whole=found)


def _about(one: Notification) -> str:
    return one.name or one.subject


@notify.command()
def add(
    *,
    webhook: Annotated[
        str | None, typer.Option(metavar="URL", help="Post each to this address, signed.")
    ] = None,
    mail: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Mail them, at most one mail in ten minutes."),
    ] = None,
    kinds: Annotated[
        str,
        typer.Option(
            help="Kinds, separated by commas, such as promotion,watch.alert; all by default."
        ),
    ] = "",
    application: Annotated[
        str,
        typer.Option(
            "--application",
            metavar="APPLICATION",
            help="Only what concerns it.",
            callback=application_or(),
        ),
    ] = "",
    quiet: Annotated[
        str, typer.Option(metavar="FROM-TO", help="Hours (UTC) without mail, such as 22-7.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Send notifications elsewhere from now on: to a webhook, or by mail."""
    either = InvalidInput("Say either --webhook or --mail.", where="--webhook")
    exactly_one(webhook is not None, mail is not None, otherwise=either)
    way = SubscriptionWay.WEBHOOK if webhook else SubscriptionWay.MAIL
    with Client() as client:
        made = client.subscribe(
            way,
            webhook or mail or "",
            kinds=comma_separated(kinds),
            application_id=application,
            quiet=_hours(quiet),
        )
    print_found(made, _print_made, as_json=as_json)


def _print_made(made: Subscription) -> None:
    _print_row(made)
    if made.secret:
        say(f"Secret of the signatures, shown this once: {made.secret}")
    else:
        say(f"A code is mailed to it: easeml notify confirm {made.id} CODE")


@notify.command("list")
def list_all(as_json: Json = False) -> None:
    """Show where notifications are sent, and whether they arrive."""
    with Client() as client:
        found = list(client.subscriptions())
    print_list(found, _SUBSCRIPTIONS, as_json=as_json)


@notify.command()
def confirm(
    subscription_id: SubscriptionId,
    code: Annotated[str, typer.Argument(metavar="CODE", help="The code in the mail.")],
    as_json: Json = False,
) -> None:
    """Confirm a mail address by the code that was sent to it."""
    with Client() as client:
        _print(client.confirm_subscription(subscription_id, code), as_json)


@notify.command()
def test(subscription_id: SubscriptionId, as_json: Json = False) -> None:
    """Send a test; this also resumes a paused subscription."""
    with Client() as client:
        _print(client.try_subscription(subscription_id), as_json)


@notify.command("renew-secret")
def renew_secret(
    subscription_id: SubscriptionId,
    overlap: Annotated[
        float, typer.Option(metavar="HOURS", help="How long the old one signs as well.")
    ] = 24.0,
    as_json: Json = False,
) -> None:
    """Sign posts with a new secret; the old one signs as well for a while."""
    with Client() as client:
        renewed = client.renew_subscription_secret(subscription_id, overlap_hours=overlap)
    print_found(renewed, _print_made, as_json=as_json)


@notify.command()
def end(subscription_id: SubscriptionId, as_json: Json = False) -> None:
    """Send nothing there any more, for good."""
    with Client() as client:
        _print(client.unsubscribe(subscription_id), as_json)


_HOURS = re.compile(r"(\d+)-(\d+)")


def _kinds(one: Subscription) -> str:
    kinds = ", ".join(one.kinds) or "all"
    return f"{kinds} of {one.application_id}" if one.application_id else kinds


def _state(one: Subscription) -> str:
    if one.state == SubscriptionState.ACTIVE and one.failures:
        return f"failing, {one.failures} times"
    return one.state


def _print(one: Subscription, as_json: bool) -> None:
    print_found(one, _print_row, as_json=as_json)


_SUBSCRIPTIONS = {
    "id": "id",
    "sent to": "address",
    "kinds": _kinds,
    "state": _state,
    "last sent": "last_sent",
    "last error": "error",
}


def _print_row(one: Subscription) -> None:
    print_resources([one], _SUBSCRIPTIONS)


def _hours(text: str) -> list[int]:
    """Return the two hours of ``22-7``; raises ``InvalidInput`` for another text."""
    if not text:
        return []
    hours = _HOURS.fullmatch(text)
    if hours is None:
        raise InvalidInput(f"{text!r} is not two hours.", where="--quiet", remedy="Such as 22-7.")
    return [int(hours[1]), int(hours[2])]
