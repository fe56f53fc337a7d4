"""Who sends a request, by its key: every path but those in ``OPEN`` needs one, also paths that do not
exist.
"""

import base64
import binascii
import hashlib
from contextlib import suppress
from functools import partial

from starlette.datastructures import Headers

from easeml.api import remembered
from easeml.api.key_uses import Uses
from easeml.api.remembered import Remembered, own_threads
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


class Authenticator:
    """Turns the credentials of a request into its caller, and remembers that for a moment."""

    def __init__(self, store: Store):
        self._store = store
        self._callers = Remembered(own_threads(), _remembered_seconds)
        self._uses = Uses(store)

    async def caller(self, headers: Headers) -> Caller:
        """Return who sent ``headers``; raises ``NotSignedIn``."""
        secret = _secret(headers)
        digest = hashlib.sha256(secret.encode()).digest()
        look = partial(keys.authenticate, self._store, secret)
        caller = await self._callers.get(digest, look)
        self._uses.note(caller.key_id)
        return caller

    def forget(self) -> None:
        """Look up every key anew: some were revoked."""
        self._callers.forget()


def _remembered_seconds(caller: Caller) -> float:
    """Return how long a look-up counts: no longer than the key that it found."""
    if caller.key_seconds is None:
        return remembered.SECONDS
    return min(remembered.SECONDS, caller.key_seconds)


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
