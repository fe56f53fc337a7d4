"""Who calls: every path but those in ``OPEN`` needs a key, also paths that do not exist."""

import base64
import binascii
import hashlib
import time

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from easeml.errors import NotSignedIn
from easeml.service import Caller, accounts
from easeml.store import Store

OPEN = frozenset({"/healthz", "/api/v1/login", "/api/v1/openapi.json"})

_REMEMBER_SECONDS = 1.0  # how long a key revoked through another controller is still accepted here
_MOST_REMEMBERED = 10_000


class Authenticator:
    """Turns the credentials of a request into its caller, and remembers that for a moment."""

    def __init__(self, store: Store):
        self._store = store
        self._recent: dict[bytes, tuple[float, Caller]] = {}
        self._generation = 0

    async def caller(self, headers: Headers) -> Caller:
        """Return who sent ``headers``; raises ``NotSignedIn``."""
        secret = _secret(headers)
        digest = hashlib.sha256(secret.encode()).digest()
        known = self._recent.get(digest)
        if known and time.monotonic() < known[0]:
            return known[1]
        generation = self._generation
        caller = await run_in_threadpool(accounts.authenticate, self._store, secret)
        if generation == self._generation:  # nothing was revoked while the database answered
            if len(self._recent) >= _MOST_REMEMBERED:
                self._recent.clear()
            self._recent[digest] = time.monotonic() + _REMEMBER_SECONDS, caller
        return caller

    def forget(self) -> None:
        """Look up every key anew: some were revoked."""
        self._generation += 1
        self._recent.clear()


class Gate:
    """Middleware that lets a request in when it is known who sends it, and notes him in ``request.state.caller``.

    It stands before routing, so that no route can be forgotten and no body is read for a stranger.
    """

    def __init__(self, app: ASGIApp, authenticator: Authenticator):
        self._app = app
        self._authenticator = authenticator

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in OPEN:
            caller = await self._authenticator.caller(Headers(scope=scope))
            scope.setdefault("state", {})["caller"] = caller
        await self._app(scope, receive, send)


def _secret(headers: Headers) -> str:
    """Return the key: as a bearer token, in ``X-API-Key``, or as the password of HTTP Basic (``curl -u :KEY``)."""
    scheme, _, value = headers.get("authorization", "").partition(" ")
    secret = ""
    if scheme.lower() == "bearer":
        secret = value.strip()
    elif scheme.lower() == "basic":
        try:
            secret = base64.b64decode(value, validate=True).decode().partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            secret = ""
    secret = secret or headers.get("x-api-key", "")
    if not secret:
        raise NotSignedIn(remedy="Send the header 'Authorization: Bearer KEY'; POST /api/v1/login gives a key.")
    return secret
