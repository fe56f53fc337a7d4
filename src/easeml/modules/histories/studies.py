"""A study: trials of another program, each with its parameters and the value that it reached."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from easeml.errors import InvalidInput


class Direction(StrEnum):
    """Which values are better."""

    MAXIMIZE = "maximize"
    MINIMIZE = "minimize"


@dataclass(frozen=True, slots=True)
class Trial:
    """``name``: as the other program calls it; ``value``: None where it did not finish."""

    name: str
    params: Mapping[str, Any]
    value: float | None


@dataclass(frozen=True, slots=True)
class Study:
    """``name``: empty where the file has none. ``notes``: what was guessed of the file."""

    name: str
    direction: Direction
    trials: Sequence[Trial]
    notes: Sequence[str] = field(default_factory=list)


def one_named(names: Sequence[str], asked: str, where: str) -> int:
    """Return the place of the study that is asked for, or of the only one.

    Raises ``InvalidInput``.
    """
    if not names:
        raise InvalidInput("It has no study.", where=where)
    if asked in names:
        return names.index(asked)
    if len(names) == 1 and not asked:
        return 0
    known = ", ".join(map(repr, names[:10]))
    raise InvalidInput("Say which study is meant.", where=where, remedy=f"It has: {known}.")


def only_objective(told: Sequence[Any], where: str) -> Any:
    """Return what is told of the one objective of a study. Raises ``InvalidInput`` for several."""
    if len(told) != 1:
        raise InvalidInput("A study of several objectives is not a history.", where=where)
    return told[0]


def number_of(told: Any) -> float | None:
    """Return a finite number; None for what is none."""
    try:
        value = float(told)
    except (TypeError, ValueError, OverflowError):
        return None
    return value if math.isfinite(value) else None
