"""What providers see of their easeml: users and tenants, processes, storage, settings and events."""

import math
from collections.abc import Awaitable, Sequence
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from easeml.contract.accounts import Invitation
from easeml.contract.administration import AuditEvent, Tenant, TenantLimits
from easeml.contract.resources import Page
from easeml.contract.states import InvitationKind, Role
from easeml.errors import EasemlError, InvalidInput, NotFound
from easeml.web.forms import one_of, typed_number
from easeml.web.page_context import PageContext, back_to, listed, signed_in, status_of
from easeml.web.usage_chart import usage_figure
from easeml.web.views import people

_PAGE = 50
_UNITS = {
    "priority": 1.0,
    "devices": 1.0,
    "seconds": 60.0,
    "storage": 1e6,
    "applications": 1.0,
    "month_seconds": 60.0,
    "uploads": 1.0,
    "requests": 1.0,
}  # of a field
_WHOLE = ("devices", "storage", "applications", "uploads")
_NEW = "new"  # in place of a tenant: those that are made from now on
_LEVELS = {
    "none": "limits of memory, time and disk only",
    "process": "no network, no other files, no other processes",
    "user": "a user id and a view of the files of their own as well",
    "sandbox": "a network, process numbers and shared memory of their own as well",
}
_SPANS = {"7": "7 days", "30": "30 days", "90": "90 days", "365": "a year"}


@signed_in
async def show_people(context: PageContext) -> Response:
    """Show users and tenants, and the forms to add a user and to set a password."""
    return await _people(context)


@signed_in
async def add_user(context: PageContext) -> Response:
    """Make a user with a tenant of their own."""
    form = await context.form()
    name = str(form.get("name", "")).strip()
    return await _after(
        context, context.client.create_user(name, str(form.get("password", ""))), name
    )


@signed_in
async def set_password(context: PageContext) -> Response:
    """Set somebody's password; their sign-ins and keys end."""
    form = await context.form()
    return await _after(
        context,
        context.client.change_password(str(form.get("user", "")), str(form.get("password", ""))),
    )


@signed_in
async def set_role(context: PageContext) -> Response:
    """Make somebody a provider, or a user again."""
    form = await context.form()
    return await _after(
        context, context.client.change_role(str(form.get("user", "")), str(form.get("role", "")))
    )


@signed_in
async def set_access(context: PageContext) -> Response:
    """Shut somebody out, or let them in again."""
    form = await context.form()
    user_id = str(form.get("user", ""))
    disabled = form.get("disabled") == "yes"
    return await _after(context, context.client.set_access(user_id, disabled=disabled))


@signed_in
async def remove_user(context: PageContext) -> Response:
    """Remove somebody for good, once it is said what becomes of their tenant."""
    form = await context.form()
    user_id = str(form.get("user", ""))
    data = str(form.get("data", ""))
    to = str(form.get("to", ""))
    return await _after(context, context.client.remove_user(user_id, data, to=to))


@signed_in
async def invite(context: PageContext) -> Response:
    """Make a link to a tenant of one's own and show it, this once."""
    form = await context.form()
    seconds = people.lifetime(str(form.get("days", "")))
    return await _people(context, made=await context.client.invite(expires_in=seconds))


@signed_in
async def uninvite(context: PageContext) -> Response:
    """Take an invitation back."""
    form = await context.form()
    invitation_id = str(form.get("invitation", ""))
    return await _after(context, context.client.revoke_invitation(invitation_id))


@signed_in
async def set_limits(context: PageContext) -> Response:
    """Set what a tenant may use; an empty field is no limit."""
    form = await context.form()
    tenant = str(form.get("tenant", ""))
    try:
        limits: dict[str, Any] = {}
        for name, unit in _UNITS.items():
            limits[name] = _number(str(form.get(name, "")), name, unit)
        if tenant == _NEW:
            await context.client.set_default_limits(**limits)
        else:
            await context.client.limit_tenant(tenant, **limits)
    except EasemlError as error:
        return await _people(context, error)
    return back_to(f"/admin?tenant={tenant}")


@signed_in
async def show_usage(context: PageContext) -> Response:
    """Show what tenants use of what they may, and device time by day."""
    _require_provider(context)
    days = one_of(_SPANS, context.request.query_params.get("days", ""), "30")
    usage = await context.client.usage(days=int(days))
    shown = {"usage": usage, "days": days, "spans": _SPANS, "chart": usage_figure(usage)}
    return context.render("admin_usage.html", **shown)


@signed_in
async def show_service(context: PageContext) -> Response:
    """Show processes with their heartbeats, storage, and settings with their origin."""
    _require_provider(context)
    status = await context.client.status()
    shown = {"storage": await context.client.storage(), "settings": await context.client.settings()}
    shown["devices"] = await listed(context.client.devices())
    return context.render("admin_service.html", service=status, levels=_LEVELS, **shown)


@signed_in
async def show_audit(context: PageContext) -> Response:
    """Show what happened to all tenants, newest first."""
    _require_provider(context)
    asked = context.request.query_params
    before, kind, person = (asked.get(name, "").strip() for name in ("before", "kind", "person"))
    earlier = before if before.isdecimal() else None
    unknown = ""
    try:
        page = await context.client.audit(before=earlier, limit=_PAGE, kind=kind, person=person)
    except NotFound as error:
        unknown = error.message
        page = Page[AuditEvent](items=[], next=None)
    return context.render(
        "admin_audit.html", page=page, before=before, kind=kind, person=person, unknown=unknown
    )


async def _after(context: PageContext, change: Awaitable[object], name: str = "") -> Response:
    """Make the change and show the page again.

    If it was refused, the page says why and keeps the new user's ``name``.
    """
    try:
        await change
    except EasemlError as error:
        return await _people(context, error, name)
    return back_to("/admin")


async def _people(
    context: PageContext,
    problem: EasemlError | None = None,
    name: str = "",
    made: Invitation | None = None,
) -> Response:
    _require_provider(context)
    found = people.still_open(await listed(context.client.invitations()))
    users = await listed(context.client.users())
    tenants = await context.client.tenants()
    chosen_id, chosen_limits = await _chosen_limits(context, tenants)
    values = {
        "users": users,
        "tenants": tenants,
        "chosen_id": chosen_id,
        "chosen_limits": chosen_limits,
        "problem": problem,
        "name": name,
        "invitations": [one for one in found if one.kind == InvitationKind.OWN_TENANT],
        "made": made,
        "link": people.link(context.request, made),
        "lifetimes": people.LIFETIMES,
    }
    return context.render("admin.html", status_of(problem), **values)


async def _chosen_limits(
    context: PageContext, tenants: Sequence[Tenant]
) -> tuple[str, TenantLimits]:
    """Return whose limits are shown: those of a tenant by its id, or those of new ones."""
    asked = context.request.query_params.get("tenant", "")
    if asked == _NEW:
        return _NEW, await context.client.default_limits()
    by_id = {one.id: one for one in tenants}
    chosen = by_id.get(asked, tenants[0])
    return chosen.id, chosen.limits


def _number(text: str, name: str, unit: float) -> float | None:
    """Return the value of a limit in its own unit, None for an empty field. Raises InvalidInput."""
    if not text.strip():
        return None
    value = unit * typed_number(text)
    if not 0 <= value < math.inf:
        raise InvalidInput("A limit is a number from 0, or nothing.", where=name)
    if name in _WHOLE:
        return int(value)
    return value


def _require_provider(context: PageContext) -> None:
    """Raise NotFound for others: they need not know of these pages."""
    if context.user.role != Role.PROVIDER:
        raise NotFound("There is no such page.", where=context.request.url.path)


routes = [
    Route("/admin", show_people),
    Route("/admin/users", add_user, methods=["POST"]),
    Route("/admin/password", set_password, methods=["POST"]),
    Route("/admin/role", set_role, methods=["POST"]),
    Route("/admin/access", set_access, methods=["POST"]),
    Route("/admin/remove", remove_user, methods=["POST"]),
    Route("/admin/invite", invite, methods=["POST"]),
    Route("/admin/uninvite", uninvite, methods=["POST"]),
    Route("/admin/limits", set_limits, methods=["POST"]),
    Route("/admin/usage", show_usage),
    Route("/admin/service", show_service),
    Route("/admin/audit", show_audit),
]
