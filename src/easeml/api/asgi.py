"""The whole address: the REST API under ``/api``, the pages everywhere else."""

from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from easeml.api.request_limits import HEADERS, RequestLimits
from easeml.settings import Settings
from easeml.web import UPLOADS_PATH, create_pages

_HEADERS = {
    **HEADERS,
    "content-security-policy": (
        "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "referrer-policy": "same-origin",  # so that browsers say where a form comes from
}


def create_asgi_app(api: FastAPI, settings: Settings) -> ASGIApp:
    """Return ``api`` with its pages beside it; they may load what this address serves, and run no
    inline script.
    """

    def limit_of(scope: Scope) -> int:
        is_piece = scope["path"].startswith(f"{UPLOADS_PATH}/")
        return settings.upload_limit if is_piece else settings.request_limit

    pages = RequestLimits(create_pages(api), limit_of, _HEADERS)

    async def whole(scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        is_page = scope["type"] == "http" and not path.startswith("/api/") and path != "/healthz"
        await (pages if is_page else api)(scope, receive, send)

    return whole
