"""Where data comes from, as people write it: an address, and a query where it is a database.

An address carries no secret. What a database or a bucket asks for is in a connection of the
provider's, which the address names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import SplitResult, parse_qsl, urlsplit

from easeml.errors import InvalidInput

WEB = ("http", "https")
DATABASES = ("postgresql", "sqlite")
_LONGEST_ADDRESS = 2_000
_LONGEST_QUERY = 20_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_LOWEST_FREE_PORT = 1024  # below it, only what the web uses: no mail, no remote shells
_WEB_PORTS = (80, 443)
# Parameters that let whoever holds the address in: what is kept here is shown to a whole tenant.
_KEYS = re.compile(
    r"(x-(amz|goog)-(signature|credential|security-token)|signature|sig|token|.*[_-]token"
    r"|api[_-]?key|key|.*secret|password|passwd|pwd|auth|authorization)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Origin:
    """An address that was read, and the query on the database that it names; empty for others."""

    address: str
    query: str = ""

    @property
    def parts(self) -> SplitResult:
        """The parts of the address."""
        return urlsplit(self.address)

    @property
    def is_web(self) -> bool:
        """Whether anybody may ask for it, without a connection."""
        return self.parts.scheme in WEB

    @property
    def filename(self) -> str:
        """What the file is called; its ending tells the format where it has one."""
        if self.parts.scheme in DATABASES:
            return f"{self.parts.netloc}.csv"
        return PurePosixPath(self.parts.path).name or f"{self.parts.hostname}.csv"


def read_origin(address: str, query: str = "", *, is_kept: bool = True) -> Origin:
    """Return the origin that somebody named.

    ``address``: ``https://HOST/FILE``, ``s3://BUCKET/KEY``, ``postgresql://CONNECTION`` or
    ``sqlite://CONNECTION``; the last two with a ``query``. ``is_kept``: it
    is stored, and so must hold no key. Raises ``InvalidInput`` for others.
    """
    query = query.strip()
    if len(query) > _LONGEST_QUERY or "\0" in query:
        raise _refused("The query is too long.", "Make a view in the database, and select from it.")
    parts = _parts_of(address)
    if parts.scheme in WEB:
        _check_web(parts)
        if is_kept:
            _check_keys(parts)
    elif parts.scheme == "s3":
        _check_bucket(parts)
    elif parts.scheme in DATABASES:
        _check_database(parts, query)
    else:
        raise _refused(
            f"Nothing is fetched from {parts.scheme or 'a file'!r}.",
            "Name https://, http://, s3://BUCKET/KEY, postgresql://CONNECTION or "
            "sqlite://CONNECTION; a file is uploaded.",
        )
    if query and parts.scheme not in DATABASES:
        raise _refused("Only a database takes a query.", "Leave it out.", where="query")
    return Origin(parts._replace(fragment="").geturl(), query)


def check_web_address(address: str) -> SplitResult:
    """Return the parts of an address of the web; raises ``InvalidInput`` for any other.

    It may hold a key, but no password: that belongs to no address.
    """
    parts = _parts_of(address)
    if parts.scheme not in WEB:
        raise _refused("It is no address of the web.", "Write https://HOST/PATH.")
    _check_web(parts)
    return parts


def _parts_of(address: str) -> SplitResult:
    """Return the parts of what may be an address."""
    address = address.strip()
    is_text = address.isascii() and address.isprintable() and " " not in address
    if not is_text or len(address) > _LONGEST_ADDRESS:
        raise _refused(
            "It is no address.", "Write https://HOST/FILE, without blanks; other letters as %C3%A4."
        )
    try:
        parts = urlsplit(address)
        parts.port  # noqa: B018 it is read, and refused, here
    except ValueError as error:
        raise _refused(f"It is no address: {error}.", "Write https://HOST/FILE.") from error
    if "@" in parts.netloc:
        raise _refused(
            "An address must hold no user and no password: it would be kept and shown.",
            "Ask your provider for a connection, and name that.",
        )
    return parts


def _check_web(parts: SplitResult) -> None:
    if not parts.hostname:
        raise _refused("The address names no host.", "Write https://HOST/FILE.")
    port = parts.port
    if port is not None and port not in _WEB_PORTS and port < _LOWEST_FREE_PORT:
        raise _refused(f"Port {port} is not the web's.", "Name 80, 443, or one from 1024 on.")


def _check_keys(parts: SplitResult) -> None:
    for name, _ in parse_qsl(parts.query, keep_blank_values=True):
        if _KEYS.fullmatch(name):
            raise _refused(
                f"The address holds a key ({name!r}): it would be kept and shown.",
                "Ask your provider for a connection, or upload the file.",
            )


def _check_bucket(parts: SplitResult) -> None:
    steps = parts.path.strip("/").split("/")
    if not parts.netloc or not parts.path.strip("/") or parts.query or ".." in steps:
        raise _refused("This names no object of a bucket.", "Write s3://BUCKET/KEY.")


def _check_database(parts: SplitResult, query: str) -> None:
    if not _NAME.fullmatch(parts.netloc) or parts.path.strip("/") or parts.query:
        raise _refused(
            "A database is named by its connection alone.",
            f"Write {parts.scheme}://NAME, with a name that your provider tells you.",
        )
    if not query:
        raise _refused(
            "A database needs a query.", 'Say which rows: --query "SELECT ...".', where="query"
        )


def _refused(message: str, remedy: str, where: str = "address") -> InvalidInput:
    return InvalidInput(message, where=where, remedy=remedy)
