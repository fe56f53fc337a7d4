"""Cleaning step by step: which row next, and what its answer changes."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.cleaning.incomplete import Incomplete
from easeml.lifecycle.cleaning.points import Points
from easeml.lifecycle.result import Progress, listener

_BLOCK = 256
"""Points scored between two reports of progress."""


class CleaningSession:
    """Which row to clean next, so that validation predictions become certain soonest.

    Sequential information maximisation (Karlas et al., VLDB 2021, section 4): the next row is the
    one that lowers the mean conditional entropy of the validation predictions most, on average over
    what the row could turn out to be. Labels of the validation points are not used. After an
    answer, only the points whose prediction depended on the row are scored again; points that are
    certain are never looked at again.

    Attributes (all are read-only):
        dirty: (R,) the rows that had several candidates at the start.
        k: how many neighbours vote.
        cleaned: the rows cleaned so far, in order.
    """

    def __init__(
        self, rows: Incomplete, X_valid: Any, k: int = 3, *, progress: Progress | None = None
    ):
        """Score all validation points (V, D), V >= 1; ``k`` neighbours vote.

        Keeps 9 bytes a point and dirty row.
        """
        if len(X_valid) == 0:
            raise InvalidInput("There are no validation points.", remedy="Give at least one.")
        self._start = rows
        self._X = X_valid
        self.k = k
        self._known: dict[int, np.ndarray] = {}
        self.cleaned: list[int] = []
        self.dirty = rows.dirty
        self._column = {int(row): i for i, row in enumerate(self.dirty)}
        self._begin(rows, progress)

    @property
    def rows(self) -> Incomplete:
        """The rows as they are known now."""
        return self._points.rows

    @property
    def certain(self) -> np.ndarray:
        """(V,) bool: the validation points whose prediction is the same in all worlds; exact."""
        self._refresh()
        return self._certain

    @property
    def probabilities(self) -> np.ndarray:
        """(V, C) probabilities of the labels, in the order of ``rows.classes``."""
        self._refresh()
        return self._probabilities

    @property
    def gains(self) -> np.ndarray:
        """(V, R) bits that cleaning each row of ``dirty`` takes off each prediction's entropy."""
        self._refresh()
        return self._gains

    @property
    def entropy(self) -> float:
        """Mean entropy of the validation predictions in bits.

        0 if and only if all are certain, but for rounding.
        """
        self._refresh()
        return float(self._bits.mean())

    @property
    def doubt(self) -> float:
        """Share of validation predictions to expect to be another label than the likeliest.

        Over all worlds.
        """
        return float(1.0 - self.probabilities.max(axis=1).mean())

    @property
    def finished(self) -> bool:
        """Whether cleaning more cannot change any validation prediction: all are certain."""
        return bool(self.certain.all())

    def expected_entropy(self) -> np.ndarray:
        """Return (R,) the mean entropy to expect after cleaning each row of ``dirty``."""
        return self.entropy - self.gains.sum(axis=0) / len(self.certain)

    def accuracy_bounds(self, y_valid: np.ndarray) -> tuple[float, float]:
        """Return the shares of validation points predicted right in all worlds, and in some.

        ``y_valid`` (V,): their labels. Exact for each point; no single world need reach either
        bound for all points at once.
        """
        if len(y_valid) != len(self.certain):
            raise InvalidInput(f"{len(self.certain)} validation points have {len(y_valid)} labels.")
        is_label = self.rows.classes[None, :] == np.asarray(y_valid)[:, None]
        can_be_right = (self._points.possible() & is_label).any(axis=1)
        always_right = can_be_right & self.certain
        return float(always_right.mean()), float(can_be_right.mean())

    def next(self, n: int = 1, *, among: Collection[int] | None = None) -> list[tuple[int, float]]:
        """Return the next rows to clean, each with the mean bits that it takes off at least.

        The first is the best one. For a batch, gains of the rows are added up for each validation
        point, up to its entropy, and rows taken greedily: rows are independent, so together they
        tell at least that much, and a row that only tells what the batch tells already does not get
        in. Rows that tell nothing alone, though predictions depend on them, come last, those of
        most points first. Fewer than ``n`` come back where no more can matter. Ties go to the
        smaller row. ``among``: only these rows.
        """
        self._refresh()
        open_rows = ~np.isin(self.dirty, list(self._known))
        if among is not None:
            open_rows &= np.isin(self.dirty, list(among))
        unsure = ~self._certain
        points = len(self._certain)
        gains = self._gains[unsure]
        depends = self._touched[unsure].sum(axis=0)
        left, chosen = self._bits[unsure], []
        while len(chosen) < n and open_rows.any():
            total = np.minimum(gains, left[:, None]).sum(axis=0)
            total[~open_rows] = -1.0
            best = int(np.argmax(total))
            if total[best] <= 1e-9:
                best = int(np.argmax(np.where(open_rows, depends, -1)))
                if depends[best] == 0:
                    break
            chosen.append((int(self.dirty[best]), max(0.0, float(total[best])) / points))
            left = np.maximum(left - gains[:, best], 0.0)
            open_rows[best] = False
        return chosen

    def clean(self, row: int, *, candidate: int | None = None, value: Any = None) -> None:
        """Take in what a person found: a row is its ``candidate``-th one, or is ``value`` (D,).

        The value may be new.

        Raises:
            InvalidInput: if the row has no several candidates, was cleaned already, or candidate or
                value do not fit.
        """
        where = f"row {row}"
        if row not in self._column:
            raise InvalidInput(
                "has one candidate only, or does not exist.",
                where=where,
                remedy="Clean a dirty row.",
            )
        if row in self._known:
            raise InvalidInput("has been cleaned already.", where=where)
        number = self._number(row, candidate, value, where)
        if number is None:
            self._known[row] = np.asarray(value, dtype=np.float64).reshape(-1)
            rows = self._start
            for known, vector in self._known.items():
                rows = rows.with_row(known, vector)
            self._begin(rows, None)
        else:
            self._known[row] = self.rows.candidates_of(row)[number]
            self._points.clean(row, number)
            column = self._column[row]
            self._stale |= ~self._certain & self._touched[:, column]
            self._gains[:, column] = 0.0
        self.cleaned.append(row)

    def _number(self, row: int, candidate: int | None, value: Any, where: str) -> int | None:
        """Return which candidate is meant; None for a new value."""
        if (candidate is None) == (value is None):
            raise InvalidInput("needs either a candidate or a value.", where=where)
        known = self.rows.candidates_of(row)
        if candidate is not None:
            if not 0 <= candidate < len(known):
                raise InvalidInput(
                    f"has no candidate {candidate}, only 0 to {len(known) - 1}.", where=where
                )
            return candidate
        vector = np.asarray(value, dtype=np.float64).reshape(-1)
        if len(vector) != known.shape[1] or not np.isfinite(vector).all():
            raise InvalidInput(f"its value is not {known.shape[1]} finite numbers.", where=where)
        equal = np.flatnonzero((known == vector).all(axis=1))
        return int(equal[0]) if len(equal) else None

    def _begin(self, rows: Incomplete, progress: Progress | None) -> None:
        self._points = Points(rows, self._X, self.k)
        count = len(self._points)
        width = len(self.dirty)
        self._certain, self._stale = np.zeros(count, bool), np.ones(count, bool)
        self._probabilities = np.zeros((count, len(rows.classes)))
        self._gains = np.zeros((count, width))
        self._touched = np.zeros((count, width), bool)
        self._bits = np.zeros(count)
        self._refresh(progress)

    def _refresh(self, progress: Progress | None = None) -> None:
        """Look at stale points again: are they certain, and if not, what would each row tell?"""
        points = np.flatnonzero(self._stale)
        if len(points) == 0:
            return
        self._stale[:] = False
        possible = self._points.possible(points, enough=2)[points]
        self._certain[points] = sure = possible.sum(axis=1) == 1
        self._probabilities[points] = possible
        self._gains[points] = 0.0
        self._bits[points] = 0.0
        self._touched[points] = False
        unsure = points[~sure]
        tell = listener(progress)
        for start in range(0, len(unsure), _BLOCK):
            block = unsure[start : start + _BLOCK]
            self._probabilities[block], gains, touched = self._points.scan(gains=True, chosen=block)
            self._gains[block] = gains[:, self.dirty]
            self._touched[block] = touched[:, self.dirty]
            shares = self._probabilities[block]
            self._bits[block] = -(shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=1)
            tell(min(1.0, (start + _BLOCK) / len(unsure)))
