"""``user limits`` and ``user usage``: what tenants may use, and what they do."""

from functools import partial
from typing import Annotated, Any

import typer

from easeml.cli import people
from easeml.cli.options import Json, exactly_one, given
from easeml.cli.output import print_found, print_list, print_table
from easeml.client import Client
from easeml.contract.administration import TenantLimits, TenantUsage
from easeml.errors import InvalidInput


def add_to(users: typer.Typer) -> None:
    """Add the commands to ``users``."""
    users.command("limits")(limit_user)
    users.command()(usage)


def limit_user(
    name: Annotated[str | None, typer.Argument(help="Whose tenant.")] = None,
    *,
    default: Annotated[
        bool, typer.Option("--default", help="What tenants that are made from now on may use.")
    ] = False,
    priority: Annotated[
        float | None, typer.Option(help="Weighs its gains and its turns; usually 1.")
    ] = None,
    devices: Annotated[int | None, typer.Option(help="Most training tasks at once.")] = None,
    seconds: Annotated[
        float | None, typer.Option(help="Most device seconds of its open searches.")
    ] = None,
    month_seconds: Annotated[
        float | None, typer.Option(help="Most device seconds in a calendar month (UTC).")
    ] = None,
    storage: Annotated[int | None, typer.Option(help="Most bytes of data and models.")] = None,
    uploads: Annotated[int | None, typer.Option(help="Most unfinished uploads.")] = None,
    requests: Annotated[
        float | None, typer.Option(help="Most requests for predictions a second.")
    ] = None,
    applications: Annotated[int | None, typer.Option(help="Most applications.")] = None,
    lift: Annotated[
        list[str] | None, typer.Option(metavar="LIMIT", help="A limit to lift; repeatable.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what a tenant may use; with options, change these limits. They take effect at once."""
    asked = {"priority": priority, "devices": devices, "seconds": seconds}
    asked |= {"month_seconds": month_seconds, "storage": storage, "uploads": uploads}
    asked |= {"requests": requests, "applications": applications}
    lifted = [limit.replace("-", "_") for limit in lift or ()]
    unknown = set(lifted) - set(asked)
    if unknown:
        raise InvalidInput(
            f"There is no limit {min(unknown)!r}.",
            where="--lift",
            remedy=f"One of {', '.join(asked)}.",
        )
    either = InvalidInput("Say either whose tenant, or --default.", where="NAME")
    exactly_one(name is not None, default, otherwise=either)
    changes = {**dict.fromkeys(lifted), **given(**asked)}
    with Client() as client:
        limits = _of(client, name, changes)
    print_found(limits, partial(_print_limits, name or "new tenants"), as_json=as_json)


def _print_limits(whose: str, limits: TenantLimits) -> None:
    print_table(["limit", whose], map(_limit_row, limits.model_dump().items()))


def _limit_row(limit: tuple[str, Any]) -> tuple[str, Any]:
    name, value = limit
    return name, "no limit" if value is None else value


def usage(
    days: Annotated[int, typer.Option(min=1, max=366, help="How many days, up to today.")] = 30,
    as_json: Json = False,
) -> None:
    """Show how much of your limits you use, and device time by day; a provider sees all tenants."""
    with Client() as client:
        found = client.usage(days=days)
    columns = {
        "tenant": "name",
        f"device s in {days} days": lambda one: f"{sum(one.seconds):,.0f}",
        "today": lambda one: f"{one.seconds[-1]:,.0f}",
        "this month": _month,
        "bytes stored": lambda one: _of_most(f"{one.stored:,}", one.limits.storage),
        "uploads": lambda one: _of_most(f"{one.uploads}", one.limits.uploads),
        "applications": lambda one: _of_most(f"{one.applications}", one.limits.applications),
        "training": lambda one: _of_most(f"{one.training}", one.limits.devices),
        "waits for": lambda one: " ".join(one.waits),
    }
    print_list(found.tenants, columns, as_json=as_json, whole=found)


def _month(one: TenantUsage) -> str:
    return _of_most(f"{one.month_seconds:,.0f}", one.limits.month_seconds)


def _of_most(used: str, most: float | None) -> str:
    return used if most is None else f"{used} of {most:,.0f}"


def _of(client: Client, name: str | None, changes: dict[str, Any]) -> TenantLimits:
    """Return the limits of a user's tenant, or (None) of new ones, after the changes."""
    look = client.default_limits
    change = client.set_default_limits
    if name is not None:
        tenant_id = people.user_named(client, name).tenant_id
        look = partial(client.tenant_limits, tenant_id)
        change = partial(client.limit_tenant, tenant_id)
    limits = look()
    return change(**{**limits.model_dump(), **changes}) if changes else limits
