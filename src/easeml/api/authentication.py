"""Who sends a request, by its key: every path but those in ``OPEN`` needs one, also paths that do not
exist.
"""

import asyncio
import base64
import binascii
import hashlib
import math
import time
from contextlib import suppress

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers

from easeml.api.key_uses import Uses
from easeml.errors import NotSignedIn
from easeml.service.access.caller import Caller
from easeml.service.accounts import keys
from easeml.store import Store

OPEN = frozenset(
    {
        "/healthz",
        "/livez",
        "/readyz",
        "/v2/health/live",
        "/v2/health/ready",
        "/api/v1/login",
        "/api/v1/sign-in/ways",
        "/api/v1/sign-in/identity/ask",
        "/api/v1/sign-in/identity",
        "/api/v1/invitations/look",
        "/api/v1/invitations/accept",
        "/api/v1/openapi.json",
    }
)

_REMEMBER_SECONDS = 1.0  # how long a key revoked through another controller is still accepted here
_RENEW_SECONDS = 0.5
_MOST_REMEMBERED = 10_000


class Authenticator:
    """Turns the credentials of a request into its caller, and remembers that for a moment.

    A key in steady use is looked up again before that moment is over, beside the requests, so that
    none waits for it.
    """

    def __init__(self, store: Store):
        self._store = store
        self._recent: dict[bytes, tuple[float, Caller]] = {}
        self._uses = Uses(store)
        self._renewals: dict[bytes, asyncio.Task[Caller]] = {}
        self._generation = 0

    async def caller(self, headers: Headers) -> Caller:
        """Return who sent ``headers``; raises ``NotSignedIn``."""
        secret = _secret(headers)
        digest = hashlib.sha256(secret.encode()).digest()
        looked_up, caller = self._recent.get(digest, (-math.inf, None))
        age = time.monotonic() - looked_up
        if caller is None or age >= _remembered_seconds(caller):
            return await self._look_up(secret, digest)
        if age >= _RENEW_SECONDS and digest not in self._renewals:
            renewal = asyncio.create_task(self._look_up(secret, digest))
            self._renewals[digest] = renewal
            renewal.add_done_callback(lambda ended: self._renewed(digest, ended))
        return caller

    async def _look_up(self, secret: str, digest: bytes) -> Caller:
        generation = self._generation
        caller = await run_in_threadpool(keys.authenticate, self._store, secret)
        self._uses.note(caller.key_id)
        if generation == self._generation:  # nothing was revoked while the database answered
            if len(self._recent) >= _MOST_REMEMBERED:
                self._recent.clear()
            self._recent[digest] = time.monotonic(), caller
        return caller

    def _renewed(self, digest: bytes, renewal: "asyncio.Task[Caller]") -> None:
        del self._renewals[digest]
        if not renewal.cancelled() and renewal.exception():
            self._recent.pop(digest, None)  # the next request looks for itself, and learns why

    def forget(self) -> None:
        """Look up every key anew: some were revoked."""
        self._generation += 1
        self._recent.clear()


def _remembered_seconds(caller: Caller) -> float:
    """Return how long a look-up counts: no longer than the key that it found."""
    if caller.key_seconds is None:
        return _REMEMBER_SECONDS
    return min(_REMEMBER_SECONDS, caller.key_seconds)


def _secret(headers: Headers) -> str:
    """Return the key: as a bearer token, in ``X-API-Key``, or as the password of HTTP Basic (``curl
    -u :KEY``).
    """
    scheme, _, value = headers.get("authorization", "").partition(" ")
    secret = ""
    if scheme.lower() == "bearer":
        secret = value.strip()
    elif scheme.lower() == "basic":
        with suppress(binascii.Error, UnicodeDecodeError):
            secret = base64.b64decode(value, validate=True).decode().partition(":")[2]
    secret = secret or headers.get("x-api-key", "")
    if not secret:
        raise NotSignedIn(
            remedy="Send the header 'Authorization: Bearer KEY'; POST /api/v1/login gives a key."
        )
    return secret
