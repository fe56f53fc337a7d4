"""An identity provider on a port of the loopback: it signs in whom a test says, at once.

It speaks OpenID Connect with discovery, PKCE and rotating keys. What it answers may be spoilt.
"""

import base64
import hashlib
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import unquote_plus, urlencode

import uvicorn
from joserfc import jwt
from joserfc.jwk import Key, KeySet, RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

CLIENT_ID, CLIENT_SECRET = "easeml here", "s3cret & more"


@cache
def rsa_key(name: str) -> RSAKey:
    return RSAKey.generate_key(2048, {"kid": name, "use": "sig", "alg": "RS256"})


@dataclass
class StandInProvider:
    """What it says of itself and of people.

    ``person``: who signs in next. ``spoil``: changes the claims of the next tokens. ``sign``: makes
    a token of claims. ``strange_keys``: published beside the others. ``asked``: how often each
    address was asked.
    """

    issuer: str = ""
    person: dict[str, Any] = field(default_factory=lambda: {"sub": "1", "email": "ada@lab.org"})
    more: dict[str, Any] = field(default_factory=dict)
    spoil: Callable[[dict[str, Any]], dict[str, Any]] = lambda claims: claims
    sign: Callable[[dict[str, Any]], str] | None = None
    about: dict[str, Any] = field(default_factory=dict)
    refusal: str = ""
    keys: list[Key] = field(default_factory=lambda: [rsa_key("first")])
    strange_keys: list[Any] = field(default_factory=list)
    asked: dict[str, int] = field(default_factory=dict)
    _codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self.configuration),
                Route("/authorize", self.authorize),
                Route("/token", self.token, methods=["POST"]),
                Route("/keys", self.key_set),
                Route("/userinfo", self.userinfo),
            ]
        )

    async def configuration(self, request: Request) -> Response:
        self._note("configuration")
        said = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
        }
        return JSONResponse(said | self.about)

    async def authorize(self, request: Request) -> Response:
        query = request.query_params
        if self.refusal:
            answer = {"error": self.refusal, "state": query["state"]}
            return RedirectResponse(f"{query['redirect_uri']}?{urlencode(answer)}", 302)
        code = secrets.token_urlsafe(8)
        self._codes[code] = dict(query)
        answer = urlencode({"code": code, "state": query["state"]})
        return RedirectResponse(f"{query['redirect_uri']}?{answer}", 302)

    async def token(self, request: Request) -> Response:
        self._note("token")
        form = await request.form()
        asked = self._codes.pop(str(form["code"]), None)  # a code is good for once
        kind, _, said = request.headers.get("authorization", "").partition(" ")
        is_client = kind == "Basic" and _basic(said) == (CLIENT_ID, CLIENT_SECRET)
        digest = hashlib.sha256(str(form["code_verifier"]).encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if not is_client:
            return JSONResponse({"error": "invalid_client"}, 401)
        if asked is None or challenge != asked["code_challenge"]:
            return JSONResponse({"error": "invalid_grant"}, 400)
        if form["redirect_uri"] != asked["redirect_uri"]:
            return JSONResponse({"error": "invalid_grant"}, 400)
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + 300,
            "nonce": asked["nonce"],
            **self.person,
        }
        token = (self.sign or self.signed)(self.spoil(claims))
        return JSONResponse({"access_token": "opaque", "token_type": "Bearer", "id_token": token})

    def signed(self, claims: dict[str, Any]) -> str:
        key = self.keys[-1]
        return jwt.encode({"alg": "RS256", "kid": key.kid}, claims, key)

    async def key_set(self, request: Request) -> Response:
        self._note("keys")
        found = KeySet(self.keys).as_dict(private=False)
        return JSONResponse({"keys": [*self.strange_keys, *found["keys"]]})

    async def userinfo(self, request: Request) -> Response:
        self._note("userinfo")
        return JSONResponse(self.more)

    def _note(self, address: str) -> None:
        self.asked[address] = self.asked.get(address, 0) + 1


def _basic(said: str) -> tuple[str, str]:
    name, _, secret = base64.b64decode(said).decode().partition(":")
    return unquote_plus(name), unquote_plus(secret)


@contextmanager
def running_provider() -> Iterator[StandInProvider]:
    """Serve a provider until the block ends."""
    provider = StandInProvider()
    config = uvicorn.Config(provider.app(), port=0, log_level="error", lifespan="off")
    server = uvicorn.Server(config)
    socket = config.bind_socket()
    socket.listen()  # who asks before the server has begun waits for it
    provider.issuer = f"http://127.0.0.1:{socket.getsockname()[1]}"
    thread = threading.Thread(target=server.run, args=([socket],))
    thread.start()
    try:
        yield provider
    finally:
        server.should_exit = True
        thread.join()
        socket.close()
