"""The identity provider is believed what it signed for us, for this sign-in, and now; no more."""

import asyncio
import base64
import json
import time
from collections.abc import Awaitable, Iterator
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, OctKey, RSAKey

from easeml.engine import run_supervisor
from easeml.errors import InvalidInput, NotReady, NotSignedIn
from easeml.openid import Asked, Identity, IdentityProvider, provider_of
from easeml.settings import Settings
from identity_provider import CLIENT_ID, CLIENT_SECRET, StandInProvider, rsa_key, running_provider

REDIRECT = "http://127.0.0.1:1/sign-in/identity/back"
T = TypeVar("T")


@pytest.fixture
def there() -> Iterator[StandInProvider]:
    with running_provider() as provider:
        yield provider


@pytest.fixture
def provider(there: StandInProvider) -> IdentityProvider:
    return IdentityProvider(there.issuer, CLIENT_ID, CLIENT_SECRET)


def run(work: Awaitable[T]) -> T:
    async def waited() -> T:
        return await work

    return asyncio.run(waited())


def asked(provider: IdentityProvider) -> tuple[Asked, str]:
    """What the provider is asked, and the code that a browser comes back with."""
    question = run(provider.ask(REDIRECT))
    back = httpx.get(question.url).headers["location"]
    came = parse_qs(urlsplit(back).query)
    assert came["state"] == [question.state]
    return question, came["code"][0]


def identified(provider: IdentityProvider) -> Identity:
    question, code = asked(provider)
    return run(provider.identify(REDIRECT, code, question.nonce, question.verifier))


def test_who_signs_in_is_known_by_issuer_and_subject(there, provider) -> None:
    there.person = {"sub": "42", "email": "ada@lab.org", "email_verified": True, "name": "Ada"}
    found = identified(provider)
    assert found == Identity(there.issuer, "42", "ada@lab.org", "ada@lab.org")


def test_an_address_that_is_not_verified_is_only_a_name(there, provider) -> None:
    for claim in ({}, {"email_verified": False}, {"email_verified": "true"}):
        there.person = {"sub": "42", "email": "ada@lab.org", **claim}
        assert identified(provider) == Identity(there.issuer, "42", "ada@lab.org", "")


def test_what_the_token_leaves_out_is_asked_for(there, provider) -> None:
    there.person = {"sub": "7", "preferred_username": "ada"}
    there.more = {"sub": "7", "email": "ada@lab.org", "email_verified": True}
    assert identified(provider).email == "ada@lab.org"
    there.more["sub"] = "8"  # of somebody else: OpenID Connect Core, section 5.3.2
    assert identified(provider) == Identity(there.issuer, "7", "ada", "")


SPOILT = {
    "another nonce": lambda claims: claims | {"nonce": "another"},
    "no nonce": lambda claims: {name: claims[name] for name in claims if name != "nonce"},
    "another issuer": lambda claims: claims | {"iss": "https://elsewhere.org"},
    "for another program": lambda claims: claims | {"aud": "another"},
    "for several, by another": lambda claims: claims | {"aud": [CLIENT_ID, "b"], "azp": "b"},
    "for several, by nobody": lambda claims: claims | {"aud": [CLIENT_ID, "b"]},
    "by another": lambda claims: claims | {"azp": "b"},
    "over": lambda claims: claims | {"exp": time.time() - 61},
    "without an end": lambda claims: {name: claims[name] for name in claims if name != "exp"},
    "from the future": lambda claims: claims | {"iat": time.time() + 3600},
    "not yet": lambda claims: claims | {"nbf": time.time() + 3600},
    "without a subject": lambda claims: {name: claims[name] for name in claims if name != "sub"},
    "of an empty subject": lambda claims: claims | {"sub": ""},
    "of a number": lambda claims: claims | {"sub": 42},
    "of a long subject": lambda claims: claims | {"sub": "x" * 256},
}


@pytest.mark.parametrize("how", SPOILT)
def test_a_token_for_something_else_lets_nobody_in(there, provider, how: str) -> None:
    there.spoil = SPOILT[how]
    with pytest.raises(NotSignedIn):
        identified(provider)


def unsigned(claims: dict[str, Any]) -> str:
    parts = [json.dumps(part).encode() for part in ({"alg": "none"}, claims)]
    return ".".join([*(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts), ""])


def test_a_token_that_others_signed_lets_nobody_in(there, provider) -> None:
    published = KeySet(there.keys).as_dict(private=False)["keys"][0]
    other = RSAKey.generate_key(2048, {"kid": "first"})  # it says the name of the right one
    ways = [
        unsigned,
        lambda claims: jwt.encode({"alg": "RS256", "kid": "first"}, claims, other),
        lambda claims: jwt.encode(
            {"alg": "HS256"}, claims, OctKey.import_key(json.dumps(published)), ["HS256"]
        ),
        lambda claims: jwt.encode(
            {"alg": "HS256"}, claims, OctKey.import_key(CLIENT_SECRET * 3), ["HS256"]
        ),
        lambda claims: there.signed(claims)[:-6] + "AAAAAA",
        lambda claims: "no token",
        lambda claims: "a.b.c",
    ]
    for way in ways:
        there.sign = way
        with pytest.raises(NotSignedIn):
            identified(provider)


def test_a_code_is_good_for_once_and_for_who_asked(there, provider) -> None:
    question, code = asked(provider)
    other, _ = asked(provider)
    with pytest.raises(NotSignedIn, match="invalid_grant"):
        run(provider.identify(REDIRECT, code, question.nonce, other.verifier))
    question, code = asked(provider)
    run(provider.identify(REDIRECT, code, question.nonce, question.verifier))
    with pytest.raises(NotSignedIn, match="invalid_grant"):
        run(provider.identify(REDIRECT, code, question.nonce, question.verifier))


def test_keys_may_change_and_made_up_ones_are_no_reason_to_look(there) -> None:
    now = [0.0]
    provider = IdentityProvider(there.issuer, CLIENT_ID, CLIENT_SECRET, clock=lambda: now[0])
    identified(provider)
    there.keys.append(rsa_key("second"))
    with pytest.raises(NotSignedIn, match="does not publish"):
        identified(provider)  # which looked a moment ago
    now[0] += 61
    assert identified(provider).subject == "1"
    assert there.asked == {"configuration": 1, "keys": 2, "token": 3}


def test_a_key_that_the_provider_took_back_or_changed_does_not_count_for_ever(there) -> None:
    now = [0.0]
    provider = IdentityProvider(there.issuer, CLIENT_ID, CLIENT_SECRET, clock=lambda: now[0])
    identified(provider)
    old, changed = there.keys[0], RSAKey.generate_key(2048, {"kid": "first"})
    there.keys[:] = [changed]  # by the same name
    now[0] += 61
    assert identified(provider).subject == "1"
    now[0] += 3601
    there.keys[:] = [rsa_key("second")]
    there.sign = lambda claims: jwt.encode({"alg": "RS256", "kid": "first"}, claims, changed)
    with pytest.raises(NotSignedIn, match="does not publish"):
        identified(provider)
    there.sign = lambda claims: jwt.encode({"alg": "RS256", "kid": "first"}, claims, old)
    with pytest.raises(NotSignedIn, match="does not publish"):
        identified(provider)


def test_a_key_of_a_kind_that_nobody_knows_yet_harms_no_other(there, provider) -> None:
    there.strange_keys = [{"kty": "AKP", "alg": "ML-DSA-44", "pub": "AA"}, {"kty": "RSA"}, 7]
    assert identified(provider).subject == "1"


def test_elliptic_keys_count_too(there, provider) -> None:
    key = ECKey.generate_key("P-256", {"kid": "curve"})
    there.keys = [key]
    there.sign = lambda claims: jwt.encode({"alg": "ES256", "kid": "curve"}, claims, key)
    assert identified(provider).subject == "1"


def test_a_provider_that_is_another_or_down_is_not_used(there, provider) -> None:
    there.about = {"issuer": "https://elsewhere.org"}
    with pytest.raises(NotReady, match="calls itself 'https://elsewhere"):
        run(provider.ask(REDIRECT))
    there.about = {"token_endpoint": "http://elsewhere.org/token"}
    with pytest.raises(InvalidInput, match="not an address with TLS"):
        run(provider.ask(REDIRECT))
    there.about = {"userinfo_endpoint": "http://elsewhere.org/userinfo"}
    with pytest.raises(InvalidInput, match="not an address with TLS"):
        run(provider.ask(REDIRECT))
    there.about = {"jwks_uri": None}
    with pytest.raises(NotReady, match="does not say its jwks_uri"):
        run(provider.ask(REDIRECT))
    gone = IdentityProvider("http://127.0.0.1:1", CLIENT_ID, CLIENT_SECRET)
    with pytest.raises(NotReady, match="does not answer"):
        run(gone.ask(REDIRECT))


@pytest.mark.parametrize("issuer", ["http://login.lab.org", "login.lab.org", "ftp://login.lab.org"])
def test_an_issuer_without_tls_is_refused(issuer: str) -> None:
    with pytest.raises(InvalidInput, match="not an address with TLS"):
        IdentityProvider(issuer, CLIENT_ID, CLIENT_SECRET)


def test_easeml_has_to_be_known_there() -> None:
    with pytest.raises(InvalidInput, match="client id"):
        IdentityProvider("https://login.lab.org", "")


@pytest.mark.parametrize(
    ("said", "where"),
    [
        ({"openid_issuer": "http://login.lab.org", "openid_client_id": "a"}, "openid_issuer"),
        ({"openid_issuer": "https://login.lab.org"}, "openid_client_id"),
    ],
)
def test_a_service_with_settings_that_cannot_do_does_not_start(
    tmp_path: Path, said: dict[str, str], where: str
) -> None:
    with pytest.raises(InvalidInput) as raised:
        run_supervisor(Settings(home=tmp_path, **said), lambda *_: None)
    assert raised.value.where == where


def test_settings_without_a_provider_have_none() -> None:
    assert provider_of(Settings()) is None
