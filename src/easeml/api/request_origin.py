"""Where a request comes from, as far as it tells: the address and the program."""

from collections.abc import Mapping

from fastapi import Request

_PROGRAMS = {
    "Firefox/": "Firefox",
    "Edg/": "Edge",
    "OPR/": "Opera",
    "Chrome/": "Chrome",
    "Safari/": "Safari",
    "easeml/": "easeml's client",
    "curl/": "curl",
}
_SYSTEMS = {
    "Android": "Android",
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Windows": "Windows",
    "Mac OS X": "macOS",
    "Linux": "Linux",
}


def address_of(request: Request) -> str:
    """Return the address that asks; empty where it is not known."""
    return request.client.host if request.client else ""


def origin_of(request: Request) -> str:
    """Return the program and the address that ask: Firefox on Linux, 192.0.2.7.

    A program that is not known is not named: what it says of itself may be anything.
    """
    said = request.headers.get("user-agent", "")
    origin = _named(_PROGRAMS, said) or "a program"
    system = _named(_SYSTEMS, said)
    if system:
        origin += f" on {system}"
    address = address_of(request)
    if address:
        origin += f", {address}"
    return origin


def _named(names: Mapping[str, str], said: str) -> str:
    """Return the first name whose mark occurs in a text; empty where none does."""
    for mark, name in names.items():
        if mark in said:
            return name
    return ""
