"""A table of text as a matrix of numbers, for models that only need a rough picture of it."""

from __future__ import annotations

import numpy as np

from easeml.lifecycle.cleaning.frames import Column, Frame

_LEVELS = 30


class RoughColumns:
    """Every column of a table as numbers: numbers as they are, the others as indicators.

    Indicators are of the 30 commonest values. Numbers far out are drawn in to the first and last
    percent, as one that is wrong would make all others alike.
    """

    def __init__(self, text: Frame, missing: Frame):
        """``text`` (N, D): strings; ``missing`` (N, D): where there is no value."""
        self._rows = len(text)
        self._blocks: dict[str, np.ndarray] = {}
        for name in text:
            self._blocks[str(name)] = _block(text[name], missing[name])

    def all(self) -> np.ndarray:
        """Return (N, D') float64: all columns beside each other."""
        return self.without("")

    def without(self, name: str) -> np.ndarray:
        """Return (N, D') float64: all columns but one, for models that learn that one."""
        others = [block for other, block in self._blocks.items() if other != name]
        return np.concatenate([np.zeros((self._rows, 1)), *others], axis=1)


def _block(text: Column, missing: Column) -> np.ndarray:
    rows, numbers = numbers_of(text, missing)
    is_number = len(rows) > 0 and len(rows) >= 0.8 * (~missing).sum()
    if is_number:
        values = np.full(len(text), np.median(numbers))
        values[rows] = np.clip(numbers, *np.quantile(numbers, [0.01, 0.99]))
        return values[:, None]
    common = text[~missing].value_counts().index[:_LEVELS]
    return (text.to_numpy()[:, None] == common.to_numpy()[None, :]).astype(np.float64)


def numbers_of(text: Column, missing: Column) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows that hold plain finite numbers, and these numbers."""
    import pandas as pd

    numbers: Column = pd.to_numeric(text.where(~missing), errors="coerce")
    values = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    rows = np.flatnonzero(np.isfinite(values))
    return rows, values[rows]
