"""Signing in and out."""

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from easeml.errors import EasemlError, NotSignedIn
from easeml.web import session
from easeml.web.page_context import PageContext, back_to, signed_in, site_of
from easeml.web.rendering import render


async def ask(request: Request) -> Response:
    """Ask for name and password, or by whom else to sign in."""
    return await sign_in_page(request, request.query_params.get("next", "/"))


async def sign_in(request: Request) -> Response:
    """Begin a session, and go on to where the visitor wanted to go."""
    session.check_origin(request)
    form = await request.form()
    name = str(form.get("name", "")).strip()
    there = str(form.get("next", "/"))
    try:
        stranger = site_of(request).stranger(request)
        key = await stranger.login(name, str(form.get("password", "")))
    except NotSignedIn as error:
        return await sign_in_page(request, there, name, str(error), 401)
    except EasemlError as error:
        if error.code != "too-many":
            raise
        return await sign_in_page(request, there, name, str(error), 429)
    response = back_to(inside(there))
    session.begin(request, response, key)
    return response


@signed_in
async def sign_out(context: PageContext) -> Response:
    """End the session and the key that it holds."""
    await context.form()
    await context.client.logout()
    response = back_to("/sign-in")
    session.end(context.request, response)
    return response


async def sign_in_page(
    request: Request, there: str, name: str = "", problem: str = "", status: int = 200
) -> Response:
    """Return the page for people who are not signed in; ``there``: where they wanted to go."""
    ways = await site_of(request).stranger(request).sign_in_ways()
    values = {
        "next": inside(there),
        "name": name,
        "problem": problem,
        "provider": ways.identity_provider,
    }
    return HTMLResponse(render(request, "sign_in.html", **values), status)


def inside(path: str) -> str:
    """Return a path of this site; anything else becomes the first page."""
    leads_elsewhere = not path.startswith("/") or path[1:2] in ("/", "\\")
    if leads_elsewhere or not path.isprintable():
        return "/"
    return path


routes = [
    Route("/sign-in", ask),
    Route("/sign-in", sign_in, methods=["POST"]),
    Route("/sign-out", sign_out, methods=["POST"]),
]
