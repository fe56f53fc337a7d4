"""Passwords, of which only argon2 hashes are kept."""

import secrets
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from easeml.errors import InvalidInput

_LEAST_SCORE = 2  # of 4: more than a million guesses
_LONGEST_JUDGED = 72  # characters; more only make it better

hasher = PasswordHasher()  # argon2id with the parameters of RFC 9106 for little memory


def hash_of(password: str) -> str:
    """Return what is kept of a password."""
    return hasher.hash(password)


def check_strength(password: str, *of_the_user: str) -> None:
    """Raise ``InvalidInput`` for a password that is among the first a million guesses would try.

    ``of_the_user``: words that others know, such as the user's name. The estimate is zxcvbn's (D.
    Wheeler, "zxcvbn: low-budget password strength estimation", USENIX Security 2016).
    """
    from zxcvbn import zxcvbn

    found = zxcvbn(password[:_LONGEST_JUDGED], user_inputs=list(of_the_user))
    if found["score"] >= _LEAST_SCORE:
        return
    feedback = found["feedback"]
    reason = feedback["warning"] or "It is easy to guess."
    remedy = " ".join(feedback["suggestions"]) or "Use a few uncommon words."
    raise InvalidInput(f"This is not a safe password. {reason}", where="password", remedy=remedy)


def is_right(password_hash: str, password: str) -> bool:
    """Return whether ``password_hash`` was made of ``password``; a broken hash is of none."""
    try:
        return hasher.verify(password_hash, password)
    except (VerificationError, InvalidHashError):
        return False


@cache
def decoy_hash() -> str:
    """Return a hash that no password has: comparing with it takes as long as with any other."""
    return hash_of(secrets.token_urlsafe(16))
