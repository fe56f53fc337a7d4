"""What browsers send to and read from the REST API as a stream.

The key is put in; the bytes pass as they come.
"""

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from easeml.web import session
from easeml.web.page_context import site_of

UPLOADS_PATH = "/uploads"
_API = "/api/v1"


class _Forwarded:
    """A request handed on to the REST API under another path, in the name of the visitor."""

    def __init__(self, request: Request, path: str, key: str):
        dropped = {b"cookie", b"authorization", b"x-api-key"}
        headers = [(name, value) for name, value in request.scope["headers"] if name not in dropped]
        headers.append((b"authorization", b"Bearer " + key.encode()))
        self._scope: Scope = {
            "type": "http",
            **{
                name: request.scope[name]
                for name in ("asgi", "http_version", "method", "scheme", "query_string")
            },
            **{name: request.scope.get(name) for name in ("client", "server")},
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "headers": headers,
        }
        self._api = site_of(request).api

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._api(self._scope, receive, send)


async def live(request: Request) -> _Forwarded:
    """Stream the events of the visitor's tenant that happen from now on."""
    return _Forwarded(request, f"{_API}/events", session.key_of(request))


async def application(request: Request) -> _Forwarded:
    """Stream that something happened to the tenant of a shared application, from now on."""
    path = f"{_API}/applications/{request.path_params['application']}/live"
    return _Forwarded(request, path, session.key_of(request))


async def scheduler(request: Request) -> _Forwarded:
    """Stream that something happened to some tenant, from now on."""
    return _Forwarded(request, f"{_API}/scheduler/live", session.key_of(request))


async def predictions(request: Request) -> _Forwarded:
    """Download what a task predicted of a file."""
    path = f"{_API}/tasks/{request.path_params['task']}/predictions"
    return _Forwarded(request, path, session.key_of(request))


async def trace(request: Request) -> _Forwarded:
    """Download what a task did, from when to when."""
    path = f"{_API}/tasks/{request.path_params['task']}/trace"
    return _Forwarded(request, path, session.key_of(request))


async def begin_upload(request: Request) -> _Forwarded:
    """Announce a file that comes in pieces; the form's token is in a header, here and below."""
    return _checked(request, f"{_API}{request.url.path}")


async def go_on(request: Request) -> _Forwarded:
    """Ask how far an upload is, send its next piece, or call it off."""
    return _checked(request, f"{_API}{request.url.path}")


async def make_dataset(request: Request) -> _Forwarded:
    """Make a dataset of a whole upload."""
    return _checked(request, f"{_API}/datasets")


async def feed(request: Request) -> _Forwarded:
    """Add the rows of a whole upload to an application."""
    return _checked(request, f"{_API}/applications/{request.path_params['application']}/feed")


async def replace(request: Request) -> _Forwarded:
    """Let the rows of a whole upload take the place of all rows of an application."""
    return _checked(request, f"{_API}/applications/{request.path_params['application']}/replace")


async def predict(request: Request) -> _Forwarded:
    """Have the rows of a whole upload predicted by a task."""
    return _checked(
        request, f"{_API}/applications/{request.path_params['application']}/predictions"
    )


def _checked(request: Request, path: str) -> _Forwarded:
    key = session.key_of(request)
    session.check_csrf(key, request.headers.get(session.CSRF_HEADER, ""))
    return _Forwarded(request, path, key)
