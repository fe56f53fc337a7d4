"""Rows as numbers for the stand-in: quick, since thousands of rows with one cell changed are asked."""

from __future__ import annotations

import numpy as np
import pandas as pd

from easeml.lifecycle.cleaning.frames import Column, Frame
from easeml.lifecycle.questions import Encoding
from easeml.lifecycle.questions.encoding import FAR

_LEVELS = 30  # of a text column, its most frequent values
_FEWEST = 2  # rows that a value has to have


class Columns:
    """Numbers and times by their spread, texts and categories as indicators, and a constant.

    Missing numbers are their median; missing texts and rare ones have no indicator. ``encoding``:
    the same for single cells.
    """

    def __init__(self, frame: Frame):
        """Learn from the rows of a frame."""
        centres: dict[str, tuple[float, float]] = {}
        levels: dict[str, dict[str, int]] = {}
        for name in frame.columns:
            column = frame[name]
            if _is_number(column):
                centres[name] = _centre(_numbers(column))
            else:
                counts = column.dropna().astype(str).value_counts()
                usual = counts.index[counts >= _FEWEST][:_LEVELS]
                levels[name] = {level: place for place, level in enumerate(usual)}
        self.encoding = Encoding(centres, levels)

    def encoded(self, frame: Frame) -> np.ndarray:
        """Return the rows of a frame (n, D)."""
        names = [*self.encoding.centres, *self.encoding.levels]
        parts = [self.part(frame[name]) for name in names]
        return np.concatenate([np.ones((len(frame), 1)), *parts], axis=1)

    def part(self, column: Column) -> np.ndarray:
        """Return the numbers (n, places) of one column: those at ``encoding.places_of`` its name."""
        name = str(column.name)
        if name in self.encoding.centres:
            middle, spread = self.encoding.centres[name]
            numbers = (_numbers(column) - middle) / spread
            shown = np.clip(np.nan_to_num(numbers), -FAR, FAR)
            return shown[:, None]
        levels = self.encoding.levels[name]
        known = column.astype(object).map(levels).fillna(-1).to_numpy(dtype=np.int64)
        indicators = np.zeros((len(column), len(levels)))
        rows = np.flatnonzero(known >= 0)
        indicators[rows, known[rows]] = 1.0
        return indicators


def _is_number(column: Column) -> bool:
    is_time = pd.api.types.is_datetime64_any_dtype(column)
    is_number = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    return is_time or is_number


def _centre(numbers: np.ndarray) -> tuple[float, float]:
    """Return the median of the finite numbers and their spread, 1 where they have none."""
    known = numbers[np.isfinite(numbers)]
    if len(known) == 0:
        return 0.0, 1.0
    return float(np.median(known)), float(known.std()) or 1.0


def _numbers(column: Column) -> np.ndarray:
    if pd.api.types.is_datetime64_any_dtype(column):
        seconds = column.astype("int64").to_numpy(dtype=float)
        return np.where(column.isna(), np.nan, seconds)
    return column.to_numpy(dtype=float, na_value=np.nan)
