"""The levels of isolation, and which of them the machine of the tests reaches."""

import tempfile
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

from easeml.confinement import Isolation, check_available
from easeml.errors import Conflict

LEVELS: tuple[Isolation, ...] = get_args(Isolation)


@cache
def why_not(level: Isolation) -> str:
    """Return why this machine does not reach a level, nothing where it does."""
    try:
        check_available(Path(tempfile.gettempdir()) / "home", level)
    except Conflict as error:
        return error.message
    return ""


def needs_level(level: Isolation) -> None:
    """Skip the test, and say why, where the machine does not reach a level."""
    if why_not(level):
        pytest.skip(why_not(level))


def highest_level() -> Isolation:
    """Return the highest level that this machine reaches."""
    reached = [level for level in LEVELS if not why_not(level)]
    return reached[-1]
