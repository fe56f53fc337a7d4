"""Headers of a request, as the server has them."""

from starlette.types import Scope


def header_of(scope: Scope, name: bytes) -> bytes:
    """Return the first header of a name (in lower case); empty where there is none."""
    return next((value for given, value in scope["headers"] if given == name), b"")
