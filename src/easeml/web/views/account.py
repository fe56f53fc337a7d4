"""The visitor's own account: their password, and the API keys of their scripts."""

import time

from starlette.responses import Response
from starlette.routing import Route

from easeml.contract.accounts import Key
from easeml.contract.states import KeyKind, KeyScope
from easeml.errors import InvalidInput
from easeml.web import session
from easeml.web.page_context import PageContext, back_to, signed_in
from easeml.web.usage_chart import usage_figure

_DAYS = {"30": "30 days", "365": "a year", "": "no end"}
_SCOPES = {
    KeyScope.ALL: "all that I may do",
    KeyScope.READ: "reading only",
    KeyScope.PREDICT: "predictions only",
    KeyScope.METRICS: "metrics only, of a provider",
}


@signed_in
async def show(context: PageContext) -> Response:
    """Show the keys that scripts use, and the form to change the password."""
    return await _show(context)


@signed_in
async def make_key(context: PageContext) -> Response:
    """Make a key and show its secret, this once."""
    form = await context.form()
    days = str(form.get("days", ""))
    if days not in _DAYS:
        raise InvalidInput(f"A key cannot expire in {days!r} days.", where="days")
    seconds = 86400.0 * int(days) if days else None
    key = await context.client.create_key(
        str(form.get("name", "")).strip(),
        expires_in=seconds,
        scope=str(form.get("scope", KeyScope.ALL)),
        application_id=str(form.get("application", "")).strip(),
    )
    return await _show(context, key)


@signed_in
async def revoke_key(context: PageContext) -> Response:
    """End a key for good."""
    form = await context.form()
    await context.client.revoke_key(str(form.get("key", "")))
    return back_to("/account")


@signed_in
async def end_sign_ins(context: PageContext) -> Response:
    """End all sign-ins but this one."""
    await context.form()
    await context.client.end_sign_ins()
    return back_to("/account")


@signed_in
async def change_password(context: PageContext) -> Response:
    """Change the password, and sign this browser in again: a new password ends all sign-ins."""
    form = await context.form()
    new = str(form.get("new", ""))
    await context.client.change_password(context.user.id, new, old=str(form.get("old", "")))
    response = back_to("/account")
    session.begin(
        context.request,
        response,
        await context.site.stranger(context.request).login(context.user.name, new),
    )
    return response


@signed_in
async def show_usage(context: PageContext) -> Response:
    """Show what the visitor's tenant uses of what it may, and device time by day."""
    found = await context.client.usage(days=30)
    # A provider is told of all tenants.
    own = [one for one in found.tenants if one.tenant_id == context.user.acts_in]
    chart = usage_figure(found.model_copy(update={"tenants": own}))
    return context.render("account_usage.html", usage=own[0], chart=chart)


async def _show(context: PageContext, made: Key | None = None) -> Response:
    now = time.time()
    keys = []
    sign_ins = []
    async for key in context.client.api_keys():
        is_over = key.expires and key.expires < now
        if key.revoked:
            continue
        if key.kind == KeyKind.API:
            keys.append(key)
        elif key.kind == KeyKind.SIGN_IN and not is_over:
            sign_ins.append(key)
    return context.render(
        "account.html",
        keys=keys[::-1],
        sign_ins=sign_ins[::-1],
        made=made,
        days=_DAYS,
        scopes=_SCOPES,
    )


routes = [
    Route("/account", show),
    Route("/account/usage", show_usage),
    Route("/account/keys", make_key, methods=["POST"]),
    Route("/account/keys/revoke", revoke_key, methods=["POST"]),
    Route("/account/sign-ins/end", end_sign_ins, methods=["POST"]),
    Route("/account/password", change_password, methods=["POST"]),
]
