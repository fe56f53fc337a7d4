"""Taking an invitation: the page that its link opens, for people who have no account yet."""

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from easeml.contract.accounts import ShownInvitation
from easeml.errors import EasemlError
from easeml.web import session
from easeml.web.page_context import back_to, site_of
from easeml.web.rendering import render

_STATUS = {"not-found": 404, "conflict": 409, "not-signed-in": 401, "too-many": 429}


async def ask(request: Request) -> Response:
    """Say what the invitation leads to, and ask for a name and a password."""
    stranger = site_of(request).stranger(request)
    try:
        shown = await stranger.look_at_invitation(_secret(request))
    except EasemlError as error:
        return _page(request, None, problem=error)
    return _page(request, shown)


async def take(request: Request) -> Response:
    """Take the invitation, begin a session, and go to where the invitation points."""
    session.check_origin(request)
    form = await request.form()
    name = str(form.get("name", "")).strip()
    stranger = site_of(request).stranger(request)
    shown = None
    try:
        shown = await stranger.look_at_invitation(_secret(request))
        password = str(form.get("password", ""))
        joined = await stranger.accept_invitation(_secret(request), name, password)
    except EasemlError as error:
        return _page(request, shown, name, error)
    response = back_to(joined.path)
    session.begin(request, response, joined.key)
    return response


def _secret(request: Request) -> str:
    return request.path_params["secret"]


def _page(
    request: Request,
    shown: ShownInvitation | None,
    name: str = "",
    problem: EasemlError | None = None,
) -> Response:
    status = _STATUS.get(problem.code, 422) if problem else 200
    secret = _secret(request)
    values = {"invitation": shown, "name": name, "problem": problem, "secret": secret}
    answer = HTMLResponse(render(request, "join.html", **values), status)
    answer.headers["cache-control"] = "no-store"
    return answer


routes = [
    Route("/join/{secret}", ask),
    Route("/join/{secret}", take, methods=["POST"]),
]
