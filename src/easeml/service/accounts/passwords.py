"""Passwords, of which only argon2 hashes are kept."""

import secrets
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

hasher = PasswordHasher()  # argon2id with the parameters of RFC 9106 for little memory


def hash_of(password: str) -> str:
    """Return what is kept of a password."""
    return hasher.hash(password)


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
