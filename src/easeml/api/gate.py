"""The gate before all routes: who sends a request, and whether they may do what it asks for."""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from easeml.api.authentication import OPEN
from easeml.api.context import Context
from easeml.service.access import scopes, sharing
from easeml.service.access.caller import Caller


async def let_in(context: Context, scope: Scope, asked: sharing.Asked | None) -> Caller:
    """Return as whom the sender of a request may do what it asks for.

    ``asked``: what of an application the path names. Raises ``NotSignedIn``, ``NotAllowed``,
    ``NotFound``, and ``TooMany`` for predictions.
    """
    method, path = scope["method"], scope["path"]
    caller = await context.authenticator.caller(Headers(scope=scope))
    scopes.check(caller, method, path, asked)
    if asked is None:
        sharing.check_member(caller, method, path)
        return caller
    caller = await context.doors.admit(caller, asked)
    if asked.is_prediction:  # it counts for whose application it is
        await context.rates.admit(caller.tenant_id)
    return caller


class Gate:
    """Middleware that lets a request in when it is known who sends it, and notes them in
    ``request.state.caller``.

    It stands before routing, so that no route can be forgotten and no body is read for a stranger.
    """

    def __init__(self, app: ASGIApp):
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in OPEN:
            await self._pass_on(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request of somebody who may send it."""
        context = scope["app"].state.context
        method, path = scope["method"], scope["path"]
        asked = sharing.asked_for(method, path)
        scope.setdefault("state", {})["caller"] = await let_in(context, scope, asked)
        changes = sharing.changes_people(method, path)
        if asked is not None:
            changes = changes or asked.changes_access

        async def send_and_forget(message: Message) -> None:
            context.doors.forget()  # before the answer: it counts from the next request on
            context.authenticator.forget()
            await send(message)

        await self._app(scope, receive, send_and_forget if changes else send)
