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
_ADDRESS = re.compile(r"[!-~]{0,2000}")  # ASCII that shows, without blanks
_LONGEST_QUERY = 20_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_OTHERS_PORTS = frozenset(range(1024)) - {80, 443}  # of mail, remote shells, and the like
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
    if parts.scheme not in _CHECKS:
        raise _refused(
            f"Nothing is fetched from {parts.scheme or 'a file'!r}.",
            "Name https://, http://, s3://BUCKET/KEY, postgresql://CONNECTION or "
            "sqlite://CONNECTION; a file is uploaded.",
        )
    _CHECKS[parts.scheme](parts)
    if is_kept and parts.scheme in WEB:
        _check_keys(parts)
    _check_query(parts.scheme, query)
    return Origin(parts._replace(fragment="").geturl(), query)


def check_web_address(address: str) -> SplitResult:
    """Return the parts of an address of the web; raises ``InvalidInput`` for any other.

    It may hold a key, but no password: that belongs to no address.
    """
    parts = _parts_of(address)
    if parts.scheme not in WEB:
        raise _refused("It is not a web address.", "Write https://HOST/PATH.")
    _check_web(parts)
    return parts


def _parts_of(address: str) -> SplitResult:
    """Return the parts of what may be an address."""
    address = address.strip()
    if not _ADDRESS.fullmatch(address):
        raise _refused(
            "It is not an address.",
            "Write https://HOST/FILE, without blanks; other letters as %C3%A4.",
        )
    try:
        parts = urlsplit(address)
        parts.port  # noqa: B018 it is read, and refused, here
    except ValueError as error:
        raise _refused(f"It is not an address: {error}.", "Write https://HOST/FILE.") from error
    if "@" in parts.netloc:
        raise _refused(
            "An address must hold no user and no password: it would be kept and shown.",
            "Ask your provider for a connection, and name that.",
        )
    return parts


def _check_web(parts: SplitResult) -> None:
    if not parts.hostname:
        raise _refused("The address names no host.", "Write https://HOST/FILE.")
    if parts.port in _OTHERS_PORTS:
        raise _refused(f"Port {parts.port} is not the web's.", "Name 80, 443, or one from 1024 on.")


def _check_keys(parts: SplitResult) -> None:
    parameters = dict(parse_qsl(parts.query, keep_blank_values=True))
    key = next(filter(_KEYS.fullmatch, parameters), None)
    if key is not None:
        raise _refused(
            f"The address holds a key ({key!r}): it would be kept and shown.",
            "Ask your provider for a connection, or upload the file.",
        )


def _check_bucket(parts: SplitResult) -> None:
    key = parts.path.strip("/")
    is_object = all((parts.netloc, key, not parts.query, ".." not in key.split("/")))
    if not is_object:
        raise _refused("This names no object of a bucket.", "Write s3://BUCKET/KEY.")


def _check_database(parts: SplitResult) -> None:
    is_name = _NAME.fullmatch(parts.netloc) is not None
    if not is_name or parts.path.strip("/") or parts.query:
        raise _refused(
            "A database is named by its connection alone.",
            f"Write {parts.scheme}://NAME, with a name that your provider tells you.",
        )


_CHECKS = {
    **dict.fromkeys(WEB, _check_web),
    "s3": _check_bucket,
    **dict.fromkeys(DATABASES, _check_database),
}
"""What is asked of an address, by its scheme; nothing is fetched from others."""


def _check_query(scheme: str, query: str) -> None:
    """Refuse a database without a query, and a query on anything else."""
    takes_query = scheme in DATABASES
    if takes_query == bool(query):
        return
    if takes_query:
        raise _refused(
            "A database needs a query.", 'Say which rows: --query "SELECT ...".', where="query"
        )
    raise _refused("Only a database takes a query.", "Leave it out.", where="query")


def _refused(message: str, remedy: str, where: str = "address") -> InvalidInput:
    return InvalidInput(message, where=where, remedy=remedy)
