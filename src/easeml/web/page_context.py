"""What a page works with: who visits, their client, and how to answer them."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import Any, TypeVar
from urllib.parse import quote

import httpx
from starlette.datastructures import FormData, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from easeml.client import AsyncClient
from easeml.contract.accounts import User
from easeml.errors import EasemlError, NotAllowed, NotSignedIn
from easeml.web import session
from easeml.web.open_pages import LIVE_HEADER, OpenPages
from easeml.web.rendering import render
from easeml.web.titles import Titles

_Thing = TypeVar("_Thing")

_ADDRESS = "http://127.0.0.1"  # never connected to: requests stay in this process
_KEPT_CLIENTS = 256
_STATUS = {
    "not-signed-in": 401,
    "not-found": 404,
    "not-allowed": 403,
    "over-quota": 403,
    "over-storage": 507,
    "invalid-input": 422,
    "conflict": 409,
    "too-large": 413,
    "too-many": 429,
    "storage-full": 507,
}
_MOST_FIELDS = 20_000  # of a form: two for each column of a wide table


class Site:
    """The REST application, and clients of it by key."""

    def __init__(self, api: ASGIApp):
        self.api = api
        self.open_pages = OpenPages()
        self.titles = Titles()
        self.client = lru_cache(_KEPT_CLIENTS)(self._client)

    def stranger(self, visitor: Request) -> AsyncClient:
        """Return a client that has no key yet, for signing in from where the visitor is."""
        address = visitor.client.host if visitor.client else ""
        return self._client("-", address, visitor.headers.get("user-agent", ""))

    def _client(self, key: str, address: str = "127.0.0.1", agent: str = "") -> AsyncClient:
        api = _said_by(agent, self.api) if agent else self.api
        transport = httpx.ASGITransport(api, client=(address, 0))
        return AsyncClient(_ADDRESS, key, retries=0, transport=transport)


def _said_by(agent: str, api: ASGIApp) -> ASGIApp:
    """Return the application as a visitor's own program asks it."""

    async def ask(scope: Scope, receive: Receive, send: Send) -> None:
        headers = MutableHeaders(scope=scope)
        headers["user-agent"] = agent
        await api(scope, receive, send)

    return ask


@dataclass(frozen=True, slots=True)
class PageContext:
    """One request of somebody who is signed in."""

    request: Request
    client: AsyncClient
    user: User
    key: str

    @property
    def site(self) -> Site:
        """The site that is visited."""
        return site_of(self.request)

    def render(self, template: str, status: int = 200, **values: Any) -> Response:
        """Return a page."""
        shared = {"user": self.user, "csrf": session.csrf_token(self.key)}
        return HTMLResponse(render(self.request, template, **shared, **values), status)

    async def form(self) -> FormData:
        """Return the fields of the form that was sent.

        Raises NotAllowed for one that is not of this session.
        """
        form = await self.request.form(max_fields=_MOST_FIELDS)
        session.check_csrf(self.key, str(form.get(session.CSRF_FIELD, "")))
        return form

    def path(self, name: str) -> str:
        """Return a piece of the address, such as an id."""
        return self.request.path_params[name]


def site_of(request: Request) -> Site:
    """Return the site that a request came to."""
    return request.app.state.site


def signed_in(
    page: Callable[[PageContext], Awaitable[Response]],
) -> Callable[[Request], Awaitable[Response]]:
    """Make an endpoint for people who are signed in; all others are asked to sign in first."""

    @wraps(page)
    async def endpoint(request: Request) -> Response:
        try:
            return await _shared(request, session.key_of(request), page)
        except NotSignedIn:
            return RedirectResponse(_sign_in_address(request), 303)

    return endpoint


def status_of(problem: EasemlError | None) -> int:
    """Return the status of a page that says what was wrong with a form, or that nothing was."""
    if problem is None:
        return 200
    return 403 if isinstance(problem, NotAllowed) else 422


def _sign_in_address(request: Request) -> str:
    """Return the address of the sign-in, which leads back to a page that was asked for."""
    there = request.url.path
    if request.url.query:
        there += f"?{request.url.query}"
    if request.method != "GET" or there == "/":
        return "/sign-in"
    return f"/sign-in?next={quote(there)}"


async def _shared(
    request: Request, key: str, page: Callable[[PageContext], Awaitable[Response]]
) -> Response:
    """Return the page; one that follows events gets what was rendered for others with the same news."""
    site = site_of(request)

    async def make() -> Response:
        client = site.client(key)
        user = await client.me()
        await site.titles.keep_fresh(client)
        return await page(PageContext(request, client, user, key))

    seq = request.headers.get(LIVE_HEADER, "")
    if request.method != "GET" or not (seq.isascii() and seq.isdecimal() and len(seq) < 20):
        return await make()
    name = (key, request.url.path, request.url.query, request.cookies.get("theme", ""))
    return await site.open_pages.get(name, int(seq), request.headers.get("if-none-match", ""), make)


async def problem_page(request: Request, error: Exception) -> Response:
    """Answer with what is wrong, where, and what to do."""
    assert isinstance(error, EasemlError)
    return HTMLResponse(
        render(request, "problem.html", problem=error), _STATUS.get(error.code, 503)
    )


async def listed(found: AsyncIterator[_Thing]) -> list[_Thing]:
    """Return all that a client gives, page after page."""
    return [one async for one in found]


async def first(found: AsyncIterator[_Thing], most: int) -> list[_Thing]:
    """Return the first that a client gives, at most so many."""
    things = []
    async for one in found:
        things.append(one)
        if len(things) == most:
            break
    return things


def back_to(path: str) -> Response:
    """Send the browser to a page after something was done."""
    return RedirectResponse(path, 303)
