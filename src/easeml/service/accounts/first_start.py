"""The first start of a database whose provider's password and keys were made beforehand.

Machines that join and monitoring systems need a key before anybody can sign in and make one. Where
a start is automatic, what it prints would lie in the logs, too. So the secrets may be files of a
folder, as Kubernetes and Docker hand them to a container.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from easeml.contract.states import KeyScope
from easeml.errors import Conflict, InvalidInput
from easeml.service.accounts import keys, passwords, users
from easeml.store import Store

PASSWORD = "password"  # noqa: S105  the name of a file
KEYS = {"key": KeyScope.ALL, "metrics-key": KeyScope.METRICS}
"""The scope of each key, by the name of its file."""

_KEY = re.compile(r"eml_[A-Za-z0-9_-]{43,200}")  # as long as those of 256 random bits
_LEAST_CHARACTERS = 12  # different ones: 64 random hexadecimal digits have so many
_HOW_KEYS_ARE_MADE = 'Make one: echo "eml_$(openssl rand -hex 32)" > key'


@dataclass(frozen=True, slots=True)
class FirstSecrets:
    """``password`` of the first provider, and their API keys by scope."""

    password: str
    keys: dict[KeyScope, str]


def read(folder: Path) -> FirstSecrets:
    """Return the secrets of a folder: the file ``password``, and those of ``KEYS`` that are there.

    A line break at the end of a file does not count. Raises ``InvalidInput`` for a folder without
    a password, for one that is easily guessed, for what is no key, and for the same key twice.
    """
    password = _line(folder / PASSWORD)
    if not password:
        raise InvalidInput(
            "The first provider needs a password.",
            where=str(folder / PASSWORD),
            remedy="Write it to this file, or leave first_secrets out: then one is made and shown.",
        )
    passwords.check_strength(password, users.FIRST_PROVIDER)
    found = {}
    for name, scope in KEYS.items():
        secret = _line(folder / name)
        if secret:
            _check_key(secret, folder / name)
            found[scope] = secret
    if len(set(found.values())) < len(found):
        raise InvalidInput(
            "Two keys are the same: the one for less would open all.",
            where=str(folder),
            remedy=_HOW_KEYS_ARE_MADE,
        )
    return FirstSecrets(password, found)


def make_provider(store: Store, folder: Path) -> None:
    """Make the provider of a database that has no users, with the secrets of a folder.

    Several processes may do so at once. Raises as ``read`` does; a database with users needs no
    folder.
    """
    if users.are_there(store):
        return
    secrets = read(folder)
    password_hash = passwords.hash_of(secrets.password)
    try:
        with store.write() as tx:
            if tx.users.count():
                return
            provider = users.add_first_provider(tx, password_hash)
            for scope, secret in secrets.keys.items():
                keys.add_given(tx, provider, f"first start ({scope})", scope, secret)
    except Conflict:  # another process was faster
        if not users.are_there(store):
            raise


def _line(path: Path) -> str:
    """Return the text of a file, nothing where it is not there. Raises ``InvalidInput``."""
    try:
        return path.read_text("utf-8").strip()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise InvalidInput(f"A secret cannot be read: {reason}.", where=str(path)) from error


def _check_key(secret: str, path: Path) -> None:
    """Raise ``InvalidInput`` for what is no key, or none that was drawn at random."""
    if not _KEY.fullmatch(secret):
        raise InvalidInput(
            "A key is eml_ and at least 43 letters, digits, _ or -.",
            where=str(path),
            remedy=_HOW_KEYS_ARE_MADE,
        )
    if len(set(secret)) < _LEAST_CHARACTERS:
        raise InvalidInput(
            "This key was not drawn at random.", where=str(path), remedy=_HOW_KEYS_ARE_MADE
        )
