"""The identity provider: asked for a person's identity by the authorization code flow, with PKCE.

OpenID Connect Core 1.0, section 3.1; RFC 7636; OpenID Connect Discovery 1.0, section 4.
"""

import base64
import hashlib
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote_plus, urlencode, urlsplit

import httpx

from easeml.errors import InvalidInput, NotReady, NotSignedIn
from easeml.openid.claims import (
    Identity,
    KeyNotKnown,
    check_installed,
    checked_claims,
    identity_of,
)
from easeml.settings import Settings

_PATH = "/.well-known/openid-configuration"
_SECONDS = 10.0  # for one answer
_KEPT_SECONDS = 3600.0  # what the provider says of itself, and its keys
_KEYS_EVERY = 60.0  # between two looks for keys: tokens with made-up key ids are no reason
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")


@dataclass(frozen=True)
class Asked:
    """A question for the provider.

    ``url``: where the person's browser goes. ``state``: comes back with the answer. ``nonce``,
    ``verifier``: secrets of this sign-in, which the browser keeps until then.
    """

    url: str
    state: str
    nonce: str
    verifier: str


class IdentityProvider:
    """The provider at ``issuer``, to whom easeml is known as ``client_id``."""

    def __init__(
        self,
        issuer: str,
        client_id: str,
        client_secret: str = "",
        clock: Callable[[], float] = time.monotonic,
    ):
        """``client_secret``: empty for a public client.

        Raises ``InvalidInput`` for an issuer without TLS on another machine, for a missing id, and
        where the library for it is not installed.
        """
        self.issuer = issuer
        _check_address(issuer, "openid_issuer")
        if not client_id:
            raise InvalidInput(
                "The client id of this easeml at the identity provider is not set.",
                where="openid_client_id",
                remedy="Register easeml there, and set openid_client_id and openid_client_secret.",
            )
        check_installed()
        self._client_id = client_id
        self._client_secret = client_secret
        self._clock = clock
        self._about: dict[str, Any] = {}
        self._about_until = 0.0
        self._keys: dict[str, Any] = {}
        self._keys_until = 0.0
        self._next_keys = 0.0

    async def ask(self, redirect: str) -> Asked:
        """Return where to send a person; ``redirect``: the address they come back to.

        Raises ``NotReady`` where the provider does not answer.
        """
        about = await self._metadata()
        state = secrets.token_urlsafe(32)
        nonce = secrets.token_urlsafe(32)
        verifier = secrets.token_urlsafe(32)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest())
        question = {
            "response_type": "code",
            "client_id": self._client_id,
            "redirect_uri": redirect,
            "scope": "openid profile email",
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge.rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        endpoint = about["authorization_endpoint"]
        joined = "&" if urlsplit(endpoint).query else "?"
        url = f"{endpoint}{joined}{urlencode(question)}"
        return Asked(url, state, nonce, verifier)

    async def identify(self, redirect: str, code: str, nonce: str, verifier: str) -> Identity:
        """Return who came back with ``code``.

        Raises ``NotSignedIn`` where the provider does not confirm it, or says what cannot be
        trusted; ``NotReady`` where it does not answer.
        """
        about = await self._metadata()
        answer = await self._exchange(about, redirect, code, verifier)
        claims = await self._claims(str(answer.get("id_token", "")), nonce)
        if "email" not in claims and "userinfo_endpoint" in about:
            more = await self._more(about["userinfo_endpoint"], answer.get("access_token"))
            # What is said of somebody else is not believed.
            if more.get("sub") == claims["sub"]:
                claims = {**more, **claims}
        return identity_of(claims, self.issuer)

    async def _exchange(
        self, about: dict[str, Any], redirect: str, code: str, verifier: str
    ) -> dict[str, Any]:
        """Exchange the code for tokens (OpenID Connect Core, section 3.1.3)."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect,
            "code_verifier": verifier,
        }
        request: dict[str, Any] = {"data": form}
        ways = about.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        if self._client_secret and "client_secret_basic" in ways:
            # RFC 6749, section 2.3.1: both are encoded as in a form.
            request["auth"] = (quote_plus(self._client_id), quote_plus(self._client_secret))
        else:
            form |= self._named()
        response = await self._send("POST", about["token_endpoint"], **request)
        answer = _object(response)
        if response.status_code == 200 and answer.get("id_token"):
            return answer
        said = str(answer.get("error", f"status {response.status_code}"))[:100]
        raise NotSignedIn(
            f"The identity provider did not confirm this sign-in: {said}.", remedy="Sign in again."
        )

    def _named(self) -> dict[str, str]:
        """Return the fields of a form that say who asks."""
        if not self._client_secret:
            return {"client_id": self._client_id}
        return {"client_id": self._client_id, "client_secret": self._client_secret}

    async def _claims(self, token: str, nonce: str) -> dict[str, Any]:
        """Return the claims of a token; keys that the provider has changed are fetched."""
        if self._clock() >= self._keys_until:
            # A key that the provider took back must not count for ever.
            await self._fetch_keys()
        try:
            return self._checked(token, nonce)
        except KeyNotKnown:
            await self._fetch_keys()
        try:
            return self._checked(token, nonce)
        except KeyNotKnown as error:
            raise NotSignedIn(
                "The identity provider signed with a key that it does not publish.",
                remedy="Sign in again in a minute.",
            ) from error

    def _checked(self, token: str, nonce: str) -> dict[str, Any]:
        return checked_claims(token, self._keys, self.issuer, self._client_id, nonce)

    async def _fetch_keys(self) -> None:
        if self._keys and self._clock() < self._next_keys:
            return
        self._next_keys = self._clock() + _KEYS_EVERY
        about = await self._metadata()
        found = self._answered(await self._send("GET", about["jwks_uri"]))
        if not isinstance(found.get("keys"), list):
            raise self._no_provider("its key set has no keys")
        self._keys = found
        self._keys_until = self._clock() + _KEPT_SECONDS

    async def _metadata(self) -> dict[str, Any]:
        """Return what the provider says of itself, which is asked once an hour."""
        if self._about and self._clock() < self._about_until:
            return self._about
        found = self._answered(await self._send("GET", self.issuer.rstrip("/") + _PATH))
        self._check_metadata(found)
        self._about = found
        self._about_until = self._clock() + _KEPT_SECONDS
        return found

    def _check_metadata(self, found: dict[str, Any]) -> None:
        """Raise ``NotReady`` or ``InvalidInput`` where the provider cannot be used as it says."""
        if found.get("issuer") != self.issuer:
            raise self._no_provider(f"it calls itself {found.get('issuer')!r}")
        for name in _ENDPOINTS:
            if not isinstance(found.get(name), str):
                raise self._no_provider(f"it does not say its {name}")
            _check_address(found[name], name)
        if "userinfo_endpoint" in found:
            _check_address(str(found["userinfo_endpoint"]), "userinfo_endpoint")

    async def _more(self, url: str, token: object) -> dict[str, Any]:
        """Return what the provider tells of a person on request, as far as it does."""
        headers = {"Authorization": f"Bearer {token}"}
        response = await self._send("GET", url, headers=headers)
        return _told(response)

    def _answered(self, response: httpx.Response) -> dict[str, Any]:
        """Return what an answer tells. Raises ``NotReady`` where that is nothing."""
        found = _told(response)
        if not found:
            raise self._no_provider(f"it answers {response.status_code}")
        return found

    async def _send(self, method: str, url: str, **request: Any) -> httpx.Response:
        try:
            async with httpx.AsyncClient(timeout=_SECONDS) as client:
                return await client.request(method, url, **request)
        except httpx.HTTPError as error:
            why = str(error) or type(error).__name__
            raise NotReady(
                f"The identity provider does not answer: {why}.",
                where=self.issuer,
                remedy="Try again shortly, or sign in with a password.",
            ) from error

    def _no_provider(self, why: str) -> NotReady:
        return NotReady(
            f"The identity provider cannot be used: {why}.",
            where=self.issuer,
            remedy="Compare the setting openid_issuer with what the provider says.",
        )


def provider_of(settings: Settings) -> IdentityProvider | None:
    """Return the identity provider that settings name, if they do; raises ``InvalidInput``."""
    if not settings.openid_issuer:
        return None
    return IdentityProvider(
        settings.openid_issuer, settings.openid_client_id, settings.openid_client_secret
    )


def _check_address(url: str, where: str) -> None:
    """Raise ``InvalidInput`` for what others on the way could read or change."""
    parts = urlsplit(url)
    if parts.scheme == "https":
        return
    if parts.scheme == "http" and parts.hostname in _LOOPBACK:
        return  # it does not leave this machine
    raise InvalidInput(
        f"{url!r} is not an address with TLS.", where=where, remedy="It begins with https://."
    )


def _told(response: httpx.Response) -> dict[str, Any]:
    """Return the JSON object of an answer that is no error; an empty one where there is none."""
    if response.status_code != 200:
        return {}
    return _object(response)


def _object(response: httpx.Response) -> dict[str, Any]:
    """Return the JSON object of an answer; an empty one where it is none."""
    try:
        found = response.json()
    except ValueError:
        return {}
    if not isinstance(found, dict):
        return {}
    return found
