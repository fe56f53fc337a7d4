"""Client and service of different versions: seen in every answer, and said."""

import warnings

import httpx

from easeml.errors import VersionsDiffer
from easeml.version import __version__

HEADER = "x-easeml-version"
"""The header in which a service says its version."""


def note(response: httpx.Response) -> None:
    """Warn, once in a process, where the service is of another version than this client."""
    said = difference(response)
    if said:
        warnings.warn(said, VersionsDiffer, stacklevel=2)


def difference(response: httpx.Response, mine: str = __version__) -> str:
    """Return which versions differ, and what to do; empty where they speak alike, or one is unknown.

    Versions that differ in the last of three numbers speak alike (see ``CHANGELOG.md``).
    """
    service = response.headers.get(HEADER, "")
    ours, theirs = _speech(mine), _speech(service)
    if not theirs or ours == theirs:
        return ""
    remedy = f"pip install 'easeml=={service}'"
    if ours > theirs:
        remedy = f"Upgrade the service, or install its version here: {remedy}."
    else:
        remedy = f"Install the version of the service: {remedy}."
    return f"This client is easeml {mine}, and the service is easeml {service}. {remedy}"


def _speech(version: str) -> tuple[int, ...]:
    """Return the first two numbers of a version; none where it has no such."""
    numbers = version.split(".")[:2]
    if len(numbers) < 2 or not all(map(str.isdigit, numbers)):
        return ()
    return tuple(map(int, numbers))
