"""What has to hold of values that others give."""

from easeml.errors import InvalidInput


def require(holds: object, message: str, *, where: str, remedy: str = "") -> None:
    """Raise ``InvalidInput`` with the message, unless something ``holds``."""
    if not holds:
        raise InvalidInput(message, where=where, remedy=remedy)
