"""The whole address: the REST API under ``/api``, the Open Inference Protocol under ``/v2``, the
pages everywhere else.
"""

from urllib.parse import urlsplit

from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from easeml.api.request_ids import RequestIds, access_log
from easeml.api.request_limits import HEADERS, RequestLimits
from easeml.api.turns import Turns
from easeml.protocols.errors import speaks_v2
from easeml.settings import Settings
from easeml.web import UPLOADS_PATH, create_pages

_HEADERS = {
    **HEADERS,
    "content-security-policy": (
        "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "referrer-policy": "same-origin",  # so that browsers say where a form comes from
}
_WATCHED = ("/healthz", "/livez", "/readyz", "/metrics")  # what monitoring systems ask


def _is_of_api(path: str) -> bool:
    return path.startswith("/api/") or path in _WATCHED or speaks_v2(path)


def create_asgi_app(api: FastAPI, settings: Settings) -> ASGIApp:
    """Return ``api`` with its pages beside it; they may load what this address serves, and run no
    inline script.
    """

    def limit_of(scope: Scope) -> int:
        is_piece = scope["path"].startswith(f"{UPLOADS_PATH}/")
        return settings.upload_limit if is_piece else settings.request_limit

    pages = RequestLimits(create_pages(api), limit_of, _HEADERS)

    # Cookies of people who come by TLS are for TLS only, also where a proxy takes it off.
    is_behind_tls = urlsplit(settings.public_url).scheme == "https"

    async def whole(scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if is_behind_tls:
            scope = {**scope, "scheme": "https"}
        is_page = scope["type"] == "http" and not _is_of_api(path)
        await (pages if is_page else api)(scope, receive, send)

    note = access_log(settings.home / "logs") if settings.access_log else None
    return Turns(RequestIds(whole, note))
