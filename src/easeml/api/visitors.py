"""Who asks, as far as a request tells: the address and the program."""

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
    program = next((name for mark, name in _PROGRAMS.items() if mark in said), "a program")
    system = next((name for mark, name in _SYSTEMS.items() if mark in said), "")
    place = f"{program} on {system}" if system else program
    address = address_of(request)
    return f"{place}, {address}" if address else place
