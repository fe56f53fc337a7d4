"""The people of the visitor's tenant: what each may do, and links that let others in."""

import time

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from easeml.contract.accounts import Invitation
from easeml.contract.states import InvitationState, MemberRole, ShareRole
from easeml.errors import EasemlError, InvalidInput
from easeml.web import session
from easeml.web.page_context import PageContext, back_to, listed, signed_in, status_of

LIFETIMES = {"1": "a day", "7": "a week", "30": "30 days"}


@signed_in
async def show(context: PageContext) -> Response:
    """Show who belongs to the tenant, and the invitations that are open."""
    return await _show(context)


@signed_in
async def invite(context: PageContext) -> Response:
    """Make a link to the tenant and show it, this once."""
    form = await context.form()
    role = str(form.get("role", ""))
    try:
        made = await context.client.invite(role, expires_in=lifetime(str(form.get("days", ""))))
    except EasemlError as error:
        return await _show(context, problem=error)
    return await _show(context, made)


@signed_in
async def change(context: PageContext) -> Response:
    """Change what somebody may do, or let them do nothing more."""
    form = await context.form()
    user_id = str(form.get("user", ""))
    role = str(form.get("role", ""))
    try:
        if role:
            await context.client.change_member(user_id, role)
        else:
            await context.client.end_member(user_id)
    except EasemlError as error:
        return await _show(context, problem=error)
    return back_to("/people")


@signed_in
async def revoke(context: PageContext) -> Response:
    """Take an invitation back."""
    form = await context.form()
    await context.client.revoke_invitation(str(form.get("invitation", "")))
    return back_to("/people")


@signed_in
async def act_in(context: PageContext) -> Response:
    """Go on in another tenant that the visitor belongs to."""
    form = await context.form()
    key = await context.client.act_in(str(form.get("tenant", "")))
    response = back_to("/")
    session.begin(context.request, response, key)
    return response


def lifetime(days: str) -> float:
    """Return the seconds of a choice of a form; raises ``InvalidInput`` for any other."""
    if days not in LIFETIMES:
        raise InvalidInput(f"An invitation cannot last {days!r} days.", where="days")
    return 86400.0 * int(days)


def link(request: Request, made: Invitation | None) -> str:
    """Return the link to send; empty for none."""
    if made is None:
        return ""
    return made.link or f"{request.url.scheme}://{request.url.netloc}{made.path}"


def still_open(found: list[Invitation]) -> list[Invitation]:
    """Return those that let somebody in still, the newest first."""
    now = time.time()
    return [one for one in reversed(found) if one.state_at(now) == InvitationState.OPEN]


async def _show(
    context: PageContext, made: Invitation | None = None, problem: EasemlError | None = None
) -> Response:
    members = await listed(context.client.members())
    found = await listed(context.client.invitations())
    here = context.user.acts_in
    own = context.user.name
    tenant = next((one.name for one in context.user.tenants if one.tenant_id == here), own)
    values = {
        "members": members,
        "invitations": still_open(found),
        "made": made,
        "link": link(context.request, made),
        "problem": problem,
        "tenant": tenant,
        "roles": MemberRole,
        "given_roles": ShareRole,
        "lifetimes": LIFETIMES,
    }
    return context.render("people.html", status_of(problem), **values)


routes = [
    Route("/people", show),
    Route("/people", change, methods=["POST"]),
    Route("/people/invite", invite, methods=["POST"]),
    Route("/people/revoke", revoke, methods=["POST"]),
    Route("/people/act-in", act_in, methods=["POST"]),
]
