"""Signing in by an identity provider: the way there, and the way back."""

import hmac
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from easeml.errors import EasemlError, NotSignedIn
from easeml.web import session
from easeml.web.page_context import PageContext, back_to, signed_in, site_of
from easeml.web.views.signing_in import inside, sign_in_page

_PATH = "/sign-in/identity"
_ACCOUNT = "/account"
_SECONDS = 600  # that a person may take at the provider
_BEGIN_AGAIN = NotSignedIn(
    "This sign-in was not begun in this browser, or too long ago.", remedy="Begin again."
)


@dataclass(frozen=True)
class _Begun:
    """A sign-in that is under way, kept by the browser alone.

    ``connects``: the token of the session that wants to be connected; empty for a sign-in.
    """

    state: str
    nonce: str
    verifier: str
    there: str = "/"
    invitation: str = ""
    connects: str = ""


async def begin(request: Request) -> Response:
    """Send the visitor to the identity provider, to come back to where they wanted to go."""
    there = inside(request.query_params.get("next", "/"))
    invitation = request.query_params.get("invitation", "")
    return await _sent_there(request, there=there, invitation=invitation)


@signed_in
async def connect(context: PageContext) -> Response:
    """Send who is signed in to the identity provider, to sign in by it from now on."""
    await context.form()
    token = session.csrf_token(context.key)
    return await _sent_there(context.request, there=_ACCOUNT, connects=token)


@signed_in
async def disconnect(context: PageContext) -> Response:
    """End the sign-in by the identity provider."""
    await context.form()
    await context.client.disconnect_identity()
    return back_to(_ACCOUNT)


async def come_back(request: Request) -> Response:
    """Take what the identity provider sent the visitor back with."""
    begun = _begun(request)
    query = request.query_params
    if begun is None or not hmac.compare_digest(begun.state, query.get("state", "")):
        return await _refused(request, _BEGIN_AGAIN)
    if not query.get("code"):
        return await _refused(request, _provider_refusal(query))
    try:
        if begun.connects:
            return await _connected(request, begun)
        return await _signed_in(request, begun)
    except EasemlError as error:
        return await _refused(request, error)


def _provider_refusal(query: Mapping[str, str]) -> NotSignedIn:
    """Return what the identity provider says of itself, cut to what fits on a page."""
    said = query.get("error_description") or query.get("error") or "no reason"
    return NotSignedIn(f"The identity provider refused: {said[:200]}.")


async def _sent_there(
    request: Request, *, there: str, invitation: str = "", connects: str = ""
) -> Response:
    try:
        asked = await site_of(request).stranger(request).ask_identity(_site(request))
    except EasemlError as error:
        return await _refused(request, error)
    begun = _Begun(asked.state, asked.nonce, asked.verifier, there, invitation, connects)
    response = RedirectResponse(asked.url, 303)
    response.set_cookie(
        _cookie(request),
        json.dumps(asdict(begun)).encode().hex(),
        max_age=_SECONDS,
        path=_PATH,
        httponly=True,
        samesite="lax",  # it has to come back with a visitor whom another site sends
        secure=request.url.scheme == "https",
    )
    return response


async def _signed_in(request: Request, begun: _Begun) -> Response:
    joined = (
        await site_of(request)
        .stranger(request)
        .sign_in_by_identity(
            _site(request),
            code=request.query_params["code"],
            nonce=begun.nonce,
            verifier=begun.verifier,
            invitation=begun.invitation,
        )
    )
    response = back_to(joined.path if begun.invitation else begun.there)
    session.begin(request, response, joined.key)
    return _ended(request, response)


async def _connected(request: Request, begun: _Begun) -> Response:
    key = session.key_of(request)
    session.check_csrf(key, begun.connects)
    await (
        site_of(request)
        .client(key)
        .connect_identity(
            _site(request),
            code=request.query_params["code"],
            nonce=begun.nonce,
            verifier=begun.verifier,
        )
    )
    return _ended(request, back_to(_ACCOUNT))


async def _refused(request: Request, error: EasemlError) -> Response:
    message = f"{error.message} {error.remedy}".strip()
    return _ended(request, await sign_in_page(request, "/", problem=message, status=403))


def _ended(request: Request, response: Response) -> Response:
    """Let the browser forget the sign-in: what came back is good for once."""
    response.delete_cookie(_cookie(request), path=_PATH, httponly=True, samesite="lax")
    return response


def _begun(request: Request) -> _Begun | None:
    """Return the sign-in that this browser began, if any."""
    try:
        kept = bytes.fromhex(request.cookies.get(_cookie(request), "")).decode()
        return _Begun(**json.loads(kept))
    except (ValueError, TypeError):
        return None


def _cookie(request: Request) -> str:
    return f"{session.cookie_name(request.url.port)}_identity"


def _site(request: Request) -> str:
    return f"{request.url.scheme}://{request.url.netloc}"


routes = [
    Route(_PATH, begin),
    Route(f"{_PATH}/back", come_back),
    Route(f"{_ACCOUNT}/identity", connect, methods=["POST"]),
    Route(f"{_ACCOUNT}/identity/end", disconnect, methods=["POST"]),
]
