"""The plan: which rows a person should clean, in which order, and what it brings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.cleaning.incomplete import Incomplete, check_labels
from easeml.lifecycle.cleaning.session import CleaningSession
from easeml.lifecycle.cleaning.tables import TableCandidates
from easeml.lifecycle.result import Progress, Result

if TYPE_CHECKING:
    import pandas as pd

    from easeml.figures import Figure


@dataclass(frozen=True)
class PlannedRow:
    """A row to clean.

    ``gain``: mean bits that it takes off the entropy of a validation prediction, at least, given
    the rows before it in the plan; ``candidates``: how many values it could have; ``cells``: the
    cells in doubt with their options, likeliest first, where the plan was made from a table.
    """

    row: int
    gain: float
    candidates: int
    cells: dict[str, list[Any]]


@dataclass(frozen=True)
class CleaningPlan(Result):
    """Which rows to clean first. Entropies are means over ``points`` validation points, in bits.

    ``certain``: share of validation points whose prediction is the same in all worlds. ``doubt``:
    share of the predictions to expect to be another label than the likeliest, over all worlds.
    ``entropy_after[i]``: at most what is left, on average, when i rows of the plan are cleaned.
    ``accuracy_worst`` and ``accuracy_best``: share of validation points predicted right in all
    worlds, and in at least one; None without validation labels. (Each point may have its best in
    another world, so these are bounds.)
    """

    planned: tuple[PlannedRow, ...]
    k: int
    points: int
    dirty: int
    certain: float
    doubt: float
    entropy_after: tuple[float, ...]
    accuracy_worst: float | None
    accuracy_best: float | None
    notes: tuple[str, ...]

    @property
    def finished(self) -> bool:
        """Whether cleaning cannot change any validation prediction."""
        return self.certain == 1.0

    @property
    def may_stop(self) -> bool:
        """Whether hardly a validation prediction is expected to change, certain or not.

        That is less than half a prediction, and less than one in 200.
        """
        return self.doubt < min(0.5 / self.points, 0.005)

    @property
    def advice(self) -> str:
        """What to do next."""
        if self.dirty == 0:
            return "No row is in doubt: there is nothing to clean."
        if self.finished:
            return (
                f"Stop cleaning: all {self.points} validation predictions are the same in every "
                f"possible world, whatever the rows still in doubt ({self.dirty}) turn out to be."
            )
        first = ", ".join(str(item.row) for item in self.planned[:5])
        if self.may_stop:
            return (
                f"You may stop: {self.certain:.1%} of the {self.points} validation predictions are "
                f"certain, and of all {self.doubt * self.points:.2f} are expected to turn out "
                f"otherwise. To be certain of the rest too, clean row {first} next, "
                "then plan again."
            )
        found = (
            f"{self.certain:.0%} of the validation predictions are certain already. "
            f"Clean row {first} first; the {len(self.planned)} rows planned take the doubt "
            f"from {self.entropy_after[0]:.3f} to at most {self.entropy_after[-1]:.3f} bits "
            "a prediction. Then plan again with what you found."
        )
        if self.accuracy_worst is not None and self.accuracy_best is not None:
            found += (
                f" Accuracy is between {self.accuracy_worst:.1%} and {self.accuracy_best:.1%} "
                "whatever you find."
            )
        return found

    def to_frame(self) -> pd.DataFrame:
        """Return one row a planned row, in order."""
        import pandas as pd

        rows = []
        for item, after in zip(self.planned, self.entropy_after[1:], strict=True):
            cells = [f"{name}: {', '.join(map(str, found))}" for name, found in item.cells.items()]
            row = {
                "row": item.row,
                "gain": item.gain,
                "entropy_after": after,
                "candidates": item.candidates,
                "cells": "; ".join(cells),
            }
            rows.append(row)
        return pd.DataFrame(rows, columns=["row", "gain", "entropy_after", "candidates", "cells"])

    def figure(self) -> Figure:
        """Draw the entropy left against rows cleaned."""
        from easeml.figures.cleaning import plan

        return plan(self.to_json())


def plan_cleaning(
    rows: Incomplete,
    X_valid: Any,
    y_valid: Any = None,
    *,
    k: int = 3,
    n: int = 50,
    progress: Progress | None = None,
) -> CleaningPlan:
    """Plan the next ``n`` rows to clean.

    See ``CleaningSession`` for how they are chosen, and to go on with answers.

    Args:
        rows: training rows with candidates.
        X_valid: (V, D) complete validation points, V >= 1.
        y_valid: (V,) their labels; only the bounds of the accuracy come from them.
        k: how many neighbours vote.
        n: rows in the plan, at least 1.
        progress: called with the share of the work that is done.

    Raises:
        InvalidInput: naming what does not fit.
    """
    if n < 1:
        raise InvalidInput(f"n is {n}; a plan has at least one row.")
    session = CleaningSession(rows, X_valid, k, progress=progress)
    return plan_of(session, y_valid, n=n)


def plan_of(session: CleaningSession, y_valid: Any = None, *, n: int = 50) -> CleaningPlan:
    """Return the plan of a session as it stands; arguments as for ``plan_cleaning``."""
    chosen = session.next(n)
    left = session.entropy - np.cumsum([0.0, *[gain for _, gain in chosen]])
    bounds = (None, None) if y_valid is None else session.accuracy_bounds(check_labels(y_valid))
    return CleaningPlan(
        planned=tuple(
            PlannedRow(row, gain, int(session.rows.sizes[row]), {}) for row, gain in chosen
        ),
        k=session.k,
        points=len(session.certain),
        dirty=len(session.dirty) - len(session.cleaned),
        certain=float(session.certain.mean()),
        doubt=session.doubt,
        entropy_after=tuple(np.maximum(left, 0.0).tolist()),
        accuracy_worst=bounds[0],
        accuracy_best=bounds[1],
        notes=(),
    )


def plan_table(
    candidates: TableCandidates, *, k: int = 3, n: int = 50, progress: Progress | None = None
) -> CleaningPlan:
    """Plan the next ``n`` rows of a table to clean; rows are numbered as in the table.

    See ``candidates_of``.
    """
    plan = plan_cleaning(
        candidates.rows, candidates.X_valid, candidates.y_valid, k=k, n=n, progress=progress
    )
    return named_plan(plan, candidates)


def named_plan(plan: CleaningPlan, candidates: TableCandidates) -> CleaningPlan:
    """Return a plan with rows numbered as in the table, and the options of their cells."""
    planned = tuple(
        replace(item, row=int(candidates.row_ids[item.row]), cells=_cells(candidates, item.row))
        for item in plan.planned
    )
    return replace(plan, planned=planned, notes=candidates.notes)


def _cells(candidates: TableCandidates, row: int) -> dict[str, list[Any]]:
    """Return the cells in doubt of a row, each with its options, likeliest first."""
    weights: dict[str, dict[Any, float]] = {}
    for world, weight in zip(candidates.options[row], candidates.rows.weights_of(row), strict=True):
        for name, value in world.items():
            of_cell = weights.setdefault(name, {})
            of_cell[value] = of_cell.get(value, 0.0) + float(weight)
    return {name: sorted(found, key=lambda value: -found[value]) for name, found in weights.items()}
