"""``user limits`` and ``user usage``: what tenants may use, and what they do."""

from typing import Annotated, Any

import typer

from easeml.cli import people
from easeml.cli.options import Json
from easeml.cli.output import print_json, print_table
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
    given = {limit: value for limit, value in asked.items() if value is not None}
    lifted = [limit.replace("-", "_") for limit in lift or ()]
    unknown = set(lifted) - set(asked)
    if unknown:
        raise InvalidInput(
            f"There is no limit {min(unknown)!r}.",
            where="--lift",
            remedy=f"One of {', '.join(asked)}.",
        )
    if (name is None) != default:
        raise InvalidInput("Say either whose tenant, or --default.", where="NAME")
    changes = {**dict.fromkeys(lifted), **given}
    with Client() as client:
        limits = _of_default(client, changes) if name is None else _of(client, name, changes)
    if as_json:
        return print_json(limits)
    shown = []
    for limit, value in limits.model_dump().items():
        shown.append((limit, "no limit" if value is None else value))
    return print_table(["limit", name or "new tenants"], shown)


def usage(
    days: Annotated[int, typer.Option(min=1, max=366, help="How many days, up to today.")] = 30,
    as_json: Json = False,
) -> None:
    """Show what you use of what you may, and device time by day; a provider sees all tenants."""
    with Client() as client:
        found = client.usage(days=days)
    if as_json:
        return print_json(found)
    head = ["tenant", f"device s in {days} days", "today", "this month", "bytes stored"]
    rows = [_row(one) for one in found.tenants]
    print_table([*head, "uploads", "applications", "training", "waits for"], rows)
    return None


def _row(one: TenantUsage) -> tuple[Any, ...]:
    limits = one.limits
    return (
        one.name,
        f"{sum(one.seconds):,.0f}",
        f"{one.seconds[-1]:,.0f}",
        _of_most(f"{one.month_seconds:,.0f}", limits.month_seconds),
        _of_most(f"{one.stored:,}", limits.storage),
        _of_most(f"{one.uploads}", limits.uploads),
        _of_most(f"{one.applications}", limits.applications),
        _of_most(f"{one.training}", limits.devices),
        " ".join(one.waits),
    )


def _of_most(used: str, most: float | None) -> str:
    return used if most is None else f"{used} of {most:,.0f}"


def _of(client: Client, name: str, changes: dict[str, Any]) -> TenantLimits:
    tenant_id = people.user_named(client, name).tenant_id
    limits = client.tenant_limits(tenant_id)
    if not changes:
        return limits
    return client.limit_tenant(tenant_id, **{**limits.model_dump(), **changes})


def _of_default(client: Client, changes: dict[str, Any]) -> TenantLimits:
    limits = client.default_limits()
    if not changes:
        return limits
    return client.set_default_limits(**{**limits.model_dump(), **changes})
