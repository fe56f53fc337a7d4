"""Remedies that were followed: what each was to correct, and what came."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from easeml.lifecycle.debugging.conditions import Slice
from easeml.lifecycle.debugging.rows import Case
from easeml.lifecycle.debugging.shares import difference


@dataclass(frozen=True, slots=True)
class Followed:
    """A remedy that somebody followed. ``promised``: mistakes to be corrected, with 95 % interval.

    ``mistakes`` of ``rows`` rows of the slice, ``judged`` ones (validation or production), were
    there when it was proposed. ``is_same_model``: no other model serves since. ``tolerance``: of
    numbers.
    """

    title: str
    kind: str
    promised: tuple[float, float, float]
    slice: Slice
    judged: str
    rows: int
    mistakes: int
    is_same_model: bool
    tolerance: float | None

    @staticmethod
    def from_json(told: Mapping[str, Any]) -> Followed:
        """Return a remedy as an answer told it, with ``is_same_model`` beside."""
        return Followed(
            title=str(told["title"]),
            kind=str(told["kind"]),
            promised=(float(told["corrected"]), float(told["low"]), float(told["high"])),
            slice=Slice.from_json(told["conditions"]),
            judged=str(told.get("judged", "")),
            rows=int(told.get("rows", 0)),
            mistakes=int(told.get("mistakes", 0)),
            is_same_model=bool(told["is_same_model"]),
            tolerance=told.get("tolerance"),
        )


@dataclass(frozen=True, slots=True)
class Came:
    """What came of a remedy: mistakes fewer than before, of as many rows, with 95 % interval.

    ``mistakes`` of ``rows`` rows of the slice by now.
    """

    corrected: float
    low: float
    high: float
    rows: int
    mistakes: int


def came_of(followed: Followed, case: Case) -> Came | None:
    """Return what came of a remedy; None where that cannot be told (yet).

    ``case``: the model by now, with the remedy's tolerance. Its share of mistakes in the slice is
    compared with that of the model before. Rows of production are other ones by now; validation
    rows may be the same, for which the interval is wide enough (Newcombe, Statistics in Medicine
    17, 1998, method 10).
    """
    judged = case.production if followed.judged == "production" else case.validation
    if judged is None or followed.is_same_model or not followed.rows:
        return None
    inside = followed.slice.holds(judged.inputs)
    rows = int(inside.sum())
    if not rows:
        return None
    mistakes = int(judged.wrong[inside].sum())
    fewer, low, high = difference((followed.mistakes, followed.rows), (mistakes, rows))
    of = followed.rows
    return Came(fewer * of, low * of, high * of, rows, mistakes)
