"""What an identity provider says of a person, once it is known to be said by it, to us, and now.

OpenID Connect Core 1.0, section 3.1.3.7 (https://openid.net/specs/openid-connect-core-1_0.html).
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from easeml.errors import InvalidInput, NotSignedIn

if TYPE_CHECKING:
    from joserfc.jwk import KeySet

# With keys of two halves only: a key that both sides know would let anybody sign who reads ours.
_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA")
_LEEWAY = 60  # seconds that clocks may differ
_LONGEST_SUBJECT = 255
_LONGEST_NAME = 200


class KeyNotKnown(Exception):
    """A token is signed with none of the known keys: by its id, or as its signature says."""


@dataclass(frozen=True)
class Identity:
    """A person, as an identity provider knows them.

    ``subject``: their id there, which never changes. ``name``: what people know them by, such as an
    address; may be empty. ``email``: empty unless the provider has verified it.
    """

    issuer: str
    subject: str
    name: str = ""
    email: str = ""


def check_installed() -> None:
    """Raise ``InvalidInput`` where the library that checks signatures is not there."""
    try:
        import joserfc  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ImportError as error:
        raise InvalidInput(
            "Sign-in by OpenID Connect needs the library joserfc.",
            where="openid_issuer",
            remedy="Install it: pip install 'easeml[openid]'.",
        ) from error


def checked_claims(
    token: str, keys: Mapping[str, Any], issuer: str, client_id: str, nonce: str
) -> dict[str, Any]:
    """Return the claims of an ID token that ``issuer`` signed for us, now, and for this sign-in.

    ``keys``: its key set, as JSON. Raises ``KeyNotKnown``, and ``NotSignedIn`` for what cannot be
    trusted.
    """
    from joserfc import jwt
    from joserfc.errors import BadSignatureError, InvalidKeyIdError, JoseError

    wanted = jwt.JWTClaimsRegistry(
        leeway=_LEEWAY,
        iss={"essential": True, "value": issuer},
        sub={"essential": True},
        aud={"essential": True, "value": client_id},
        exp={"essential": True},
        iat={"essential": True},
        nonce={"essential": True, "value": nonce},
    )
    try:
        claims = jwt.decode(token, _key_set(keys), algorithms=_ALGORITHMS).claims
        wanted.validate(claims)
    except (InvalidKeyIdError, BadSignatureError) as error:
        # A provider may change a key and not its id; and not every key has one.
        raise KeyNotKnown from error
    except (JoseError, ValueError, TypeError, KeyError) as error:
        raise _not_trusted(str(error)) from error
    _check_audience(claims, client_id)
    return claims


def _key_set(keys: Mapping[str, Any]) -> "KeySet":
    """Return the keys of a set that can be read; others are left out (RFC 7517, section 5)."""
    from joserfc.errors import JoseError
    from joserfc.jwk import KeySet, import_key

    readable = []
    for key in keys["keys"]:
        with suppress(JoseError, ValueError, TypeError, KeyError):
            readable.append(import_key(key))
    return KeySet(readable)


def identity_of(claims: Mapping[str, Any], issuer: str) -> Identity:
    """Return who the claims are about. Raises ``NotSignedIn`` for an id that no provider may give."""
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= _LONGEST_SUBJECT:
        raise _not_trusted("its subject is not an id.")
    email = _text(claims, "email")
    name = email or _text(claims, "preferred_username") or _text(claims, "name")
    is_verified = claims.get("email_verified") is True
    if not is_verified:
        email = ""
    return Identity(issuer, subject, name, email)


def _check_audience(claims: Mapping[str, Any], client_id: str) -> None:
    """Refuse a token that was made for another program, though we may read it as well."""
    audience = claims["aud"]
    if "azp" in claims:
        is_for_us = claims["azp"] == client_id
    else:
        # A list of one is as good as a name; of several, nobody says for whom it was made.
        is_for_us = not isinstance(audience, list) or len(audience) < 2
    if not is_for_us:
        raise _not_trusted("it was made for another program.")


def _text(claims: Mapping[str, Any], name: str) -> str:
    """Return a claim that people read; empty where it is none."""
    said = claims.get(name)
    if not isinstance(said, str) or not said.isprintable() or len(said) > _LONGEST_NAME:
        return ""
    return said


def _not_trusted(why: str) -> NotSignedIn:
    return NotSignedIn(
        f"What the identity provider says of you cannot be trusted: {why}",
        remedy="Sign in again; if it stays so, tell the provider of this easeml.",
    )
