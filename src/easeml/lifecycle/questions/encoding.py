"""How cells and answers are numbers: what was learned of columns once, so that one cell can follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

FAR = 8.0
"""Deviations beyond which numbers are cut."""


@dataclass(frozen=True)
class Encoding:
    """Rows as numbers: a constant, numbers by their spread, texts as indicators of usual values.

    Missing numbers are their middle; missing and unusual texts have no indicator.

    ``centres``: middle and spread of each column of numbers. ``levels``: of each column of texts,
    the places of its usual values.
    """

    centres: Mapping[str, tuple[float, float]]
    levels: Mapping[str, Mapping[str, int]]

    @property
    def width(self) -> int:
        """How many numbers a row is."""
        return 1 + len(self.centres) + sum(map(len, self.levels.values()))

    def with_cell(self, row: np.ndarray, column: str, value: Any) -> np.ndarray:
        """Return a row (D,) with another value, None for a missing one, in a column."""
        made = row.copy()
        start = self._start(column)
        if column in self.centres:
            made[start] = self._number(column, value)
            return made
        levels = self.levels[column]
        made[start : start + len(levels)] = 0.0
        place = levels.get(str(value))
        if value is not None and place is not None:
            made[start + place] = 1.0
        return made

    def places_of(self, column: str) -> slice:
        """Return where the numbers of a column are in a row."""
        start = self._start(column)
        if column in self.centres:
            return slice(start, start + 1)
        return slice(start, start + len(self.levels[column]))

    def _number(self, column: str, value: Any) -> float:
        if value is None:
            return 0.0
        middle, spread = self.centres[column]
        shown = np.nan_to_num((float(value) - middle) / spread)
        return float(np.clip(shown, -FAR, FAR))

    def _start(self, column: str) -> int:
        """Return where the numbers of a column begin: the constant is first, texts come last."""
        if column in self.centres:
            return 1 + list(self.centres).index(column)
        names = list(self.levels)
        before = names[: names.index(column)]
        return 1 + len(self.centres) + sum(len(self.levels[name]) for name in before)


@dataclass(frozen=True)
class Targets:
    """Answers as targets: indicators of classes; numbers by their spread where there are none."""

    classes: tuple[str, ...]
    middle: float = 0.0
    spread: float = 1.0

    def of(self, answers: Sequence[Any] | np.ndarray) -> np.ndarray:
        """Return the targets (n, K) of answers, which may be texts."""
        if self.classes:
            texts = np.array(list(map(str, answers)), dtype=object)
            return (texts[:, None] == np.array(self.classes, dtype=object)).astype(float)
        numbers = np.array(list(map(float, answers)))
        return (numbers[:, None] - self.middle) / self.spread
