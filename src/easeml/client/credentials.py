"""Which service to call and with which API key: arguments > environment > the file written by
``easeml login``.

The file is ``$XDG_CONFIG_HOME/easeml/credentials.toml`` (``~/.config`` by default), readable by its
owner only. It keeps one key an address, so that a key is never sent to another service than the one
that gave it.
"""

import json
import os
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from easeml.errors import InvalidInput, NotSignedIn

DEFAULT_URL = "http://127.0.0.1:8080"


@dataclass(frozen=True, slots=True)
class Credentials:
    """Address of a service, and the API key for it (empty: none known)."""

    url: str
    key: str


def credentials_file() -> Path:
    """Return the path of the credentials file, whether or not it exists."""
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "easeml" / "credentials.toml"


def find_credentials(url: str | None = None, key: str | None = None) -> Credentials:
    """Return the address and key in force; what is given wins.

    Raises InvalidInput where the file is no TOML or the address no ``http(s)`` URL, NotSignedIn
    where the key is none.
    """
    stored = {} if url and key else _read()
    in_force = url or os.environ.get("EASEML_URL") or stored.get("url") or DEFAULT_URL
    url = in_force.rstrip("/")
    if not _is_address(url):
        raise InvalidInput(
            f"{url!r} is not an http(s) address.", remedy=f"Set EASEML_URL, say to {DEFAULT_URL}."
        )
    of_address = stored.get("keys", {}).get(url, "")
    key = key or os.environ.get("EASEML_API_KEY") or of_address
    if not (key.isascii() and key.isprintable()):
        raise NotSignedIn(
            "The API key holds characters that no key has.",
            remedy="Copy the key again, without quotes.",
        )
    return Credentials(url, key)


def save_credentials(url: str, key: str) -> Path:
    """Keep ``key`` for ``url``, make ``url`` the address used from now on, and return the file's
    path.
    """
    path = credentials_file()
    keys = {**_read().get("keys", {}), url: key}
    lines = [f"url = {json.dumps(url)}", "", "[keys]"]
    lines += [f"{json.dumps(address)} = {json.dumps(secret)}" for address, secret in keys.items()]
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, temporary = tempfile.mkstemp(dir=path.parent)  # made with mode 0600
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    Path(temporary).replace(path)
    return path


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return (
            parts.scheme in {"http", "https"}
            and bool(parts.hostname)
            and (parts.port or 0) >= 0
            and " " not in url
        )
    except ValueError:  # no host or port of these can be
        return False


def _read() -> dict:
    path = credentials_file()
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"The file cannot be read: {error}.",
            where=str(path),
            remedy="Remove it and run `easeml login`.",
        ) from error
