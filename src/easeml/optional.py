"""What is made of a value that may not be there."""

from collections.abc import Callable
from typing import TypeVar

S = TypeVar("S")
T = TypeVar("T")


def if_known(found: S | None, read: Callable[[S], T]) -> T | None:
    """Return what ``read`` makes of what was found; None where nothing was."""
    return None if found is None else read(found)
