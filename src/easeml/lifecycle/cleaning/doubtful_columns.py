"""One column of a dirty table: what its cells could be, and its values as parts of vectors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from easeml.lifecycle.cleaning import detectors
from easeml.lifecycle.cleaning.category_repairs import (
    CategoryRepairs,
    category_repairs,
)
from easeml.lifecycle.cleaning.detect import SuspectCell
from easeml.lifecycle.cleaning.frames import Column
from easeml.lifecycle.cleaning.repairs import ColumnRepairs, cell_options, number_repairs
from easeml.lifecycle.cleaning.rough_matrix import numbers_of

_LEVELS = 100
_CODES = 12  # different whole numbers that a column of codes has at most
_OFTEN = 10  # cells of a column of codes for each of them, at least


class DoubtfulColumn:
    """One input column: its code in vectors, its doubtful cells, and its validation points."""

    def __init__(
        self,
        name: str,
        text: Column,
        missing: Column,
        suspects: dict[int, SuspectCell],
        points: Column,
        *,
        others: np.ndarray,
        seed: int,
    ):
        """Learn the code of a column, and what its doubtful cells could be.

        ``text`` and ``missing`` (N,): the training column; ``suspects`` by row; ``points`` (V,):
        the validation column; ``others`` (N, D): all columns as numbers, for the models that make
        repairs.
        """
        self.name = name
        self.note = ""
        doubt = np.zeros(len(text), bool)
        doubt[list(suspects)] = True
        rows, numbers = numbers_of(text, missing)
        suggested = {row: finite_number(cell.suggestion) for row, cell in suspects.items()}
        fixes = {row: number for row, number in suggested.items() if number is not None}
        repaired = len(set(fixes) - set(rows.tolist()))
        self.is_number = len(rows) + repaired >= 0.8 * max(1, (~missing).sum())
        trusted = ~missing.to_numpy() & ~doubt
        if self.is_number:
            values = np.full(len(text), np.nan)
            values[rows] = numbers
            trusted &= np.isfinite(values)
            if not trusted.any():
                # Every cell has a unit: the numbers before them are all there is.
                values[list(fixes)] = list(fixes.values())
                trusted[list(fixes)] = True
            spread = float(values[trusted].std())
            self._centre = float(np.median(values[trusted]))
            self._scale = spread if spread > 0 else 1.0
            repairs = partial(number_repairs, values, trusted, others, seed=seed)
            if _are_codes(values[trusted]):
                # Nothing lies between two codes, so they are told as names are.
                repairs = partial(category_repairs, values, trusted, others, seed=seed, asked=doubt)
        else:
            values = text.to_numpy(dtype=object)
            trusted = trusted if trusted.any() else ~missing.to_numpy()
            levels = text[trusted].value_counts().index[:_LEVELS]
            self._level = {level: i for i, level in enumerate(levels)}
            repairs = partial(category_repairs, values, trusted, others, seed=seed, asked=doubt)
        self._repairs: Callable[[], ColumnRepairs | CategoryRepairs] = repairs
        self._made: ColumnRepairs | CategoryRepairs | None = None

        def make(row: int) -> list[tuple[Any, float]]:
            if self._made is None:
                self._made = self._repairs()
            return self._made.options(row)

        self.options = {
            row: cell_options(
                *self._claims(cell, missing.iat[row]), cell.confidence, lambda row=row: make(row)
            )
            for row, cell in suspects.items()
        }
        self.codes = self._encode_all(values)
        self.points = self._validation(points)

    def encode(self, value: Any) -> np.ndarray:
        """Return the part of a vector that stands for a value."""
        if self.is_number:
            return np.array([(float(value) - self._centre) / self._scale])
        code = np.zeros(len(self._level) + 1)
        place = self._level.get(value, len(self._level))
        code[place] = np.sqrt(0.5)  # two values differ by a distance of 1
        return code

    def _encode_all(self, values: np.ndarray) -> np.ndarray:
        if not self.is_number:
            return np.stack(list(map(self.encode, values)))
        filled = np.where(np.isfinite(values), values, self._centre)
        scaled = (filled - self._centre) / self._scale
        return scaled[:, None]

    def _claims(self, cell: SuspectCell, missing: bool) -> tuple[Any, Any]:
        """Return original and suggestion of a cell as values of the column, or None."""
        original = None if missing else cell.value
        suggestion = cell.suggestion or None
        if self.is_number:
            return finite_number(original), finite_number(suggestion)
        return original, suggestion

    def _validation(self, points: Column) -> np.ndarray:
        missing = detectors.mark_missing(points.to_frame()).iloc[:, 0]
        if self.is_number:
            rows, numbers = numbers_of(points, missing)
            values = np.full(len(points), self._centre)
            values[rows] = numbers
            filled = len(points) - len(rows)
        else:
            usual = next(iter(self._level))
            values = points.where(~missing, usual).to_numpy(dtype=object)
            filled = int(missing.sum())
        if filled:
            self.note = (
                f"Validation rows without a usable {self.name!r}, "
                f"where a usual value stands in: {filled}."
            )
        return self._encode_all(values)


def _are_codes(known: np.ndarray) -> bool:
    """Tell whether numbers are few different whole ones, each of which comes often."""
    whole = bool((known == np.floor(known)).all())
    most = min(_CODES, len(known) / _OFTEN)
    return whole and len(np.unique(known)) <= most


def finite_number(value: Any) -> float | None:
    """Return the finite number that a text is, if it is one."""
    if value is None:
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if np.isfinite(number) else None
