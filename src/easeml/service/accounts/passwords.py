"""Passwords, of which only argon2 hashes are kept."""

import secrets
import string
from base64 import b64encode
from collections.abc import Sequence
from typing import Any

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.low_level import ARGON2_VERSION

from easeml.errors import InvalidInput

_LEAST_SCORE = 2  # of 4: more than a million guesses
_PRODUCT = "easeml"
_COMMON = 10_000  # guesses within which a common word is found
# People who guess try a year, "123!" and the like around each common word.
_AROUND = string.digits + string.punctuation + string.whitespace
_MOST_AROUND = 6  # characters: more of them are a secret of their own
_LONGEST_JUDGED = 72  # characters; more only make it better

hasher = PasswordHasher()  # argon2id with the parameters of RFC 9106 for little memory


def hash_of(password: str) -> str:
    """Return what is kept of a password."""
    return hasher.hash(password)


def check_strength(password: str, *of_the_user: str) -> None:
    """Raise ``InvalidInput`` for a password that is among the first a million guesses would try.

    So is a common word with a year or the like around it, though its estimate may say otherwise.
    ``of_the_user``: words that others know, such as the user's name. The estimate is zxcvbn's (D.
    Wheeler, "zxcvbn: low-budget password strength estimation", USENIX Security 2016).
    """
    known = (_PRODUCT, *of_the_user)
    found = _estimate(password, known)
    if found["score"] < _LEAST_SCORE:
        feedback = found["feedback"]
        raise _unsafe(feedback["warning"] or "It is easy to guess.", *feedback["suggestions"])
    word = password.strip(_AROUND)
    around = len(password) - len(word)
    if 0 < around <= _MOST_AROUND and _estimate(word, known)["guesses"] < _COMMON:
        raise _unsafe("It is a common word with digits or signs around it.")


def _estimate(password: str, known: Sequence[str]) -> Any:
    """Return how many guesses find a password, and what may be said of it.

    ``known``: words that are tried first.
    """
    from zxcvbn import zxcvbn

    return zxcvbn(password[:_LONGEST_JUDGED], user_inputs=list(known))


def _unsafe(reason: str, *suggestions: str) -> InvalidInput:
    remedy = " ".join(suggestions) or "Use a few uncommon words."
    return InvalidInput(f"This is not a safe password. {reason}", where="password", remedy=remedy)


def is_right(password_hash: str, password: str) -> bool:
    """Return whether ``password_hash`` was made of ``password``; a broken hash is of none."""
    try:
        return hasher.verify(password_hash, password)
    except (VerificationError, InvalidHashError):
        return False


def decoy_hash() -> str:
    """Return a hash that no password has: comparing with it takes as long as with any other.

    It is drawn and not computed, which would take as long as a sign-in.
    """
    salt = _encoded(secrets.token_bytes(hasher.salt_len))
    drawn = _encoded(secrets.token_bytes(hasher.hash_len))
    costs = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    return f"$argon2id$v={ARGON2_VERSION}${costs}${salt}${drawn}"


def _encoded(value: bytes) -> str:
    """Return bytes in the letters of argon2's hashes: Base64 without padding."""
    return b64encode(value).decode().rstrip("=")
