"""A table of text as a matrix of numbers, for models that only need a rough picture of it."""

from __future__ import annotations

import numpy as np

from easeml.lifecycle.cleaning.frames import Column, Frame

_LEVELS = 30


def quick_matrix(text: Frame, missing: Frame) -> np.ndarray:
    """Return (N, D') float64: columns of numbers as they are, the others as indicators.

    These are of the 30 commonest values.
    """
    columns = [np.zeros((len(text), 1))]
    for column in text:
        rows, numbers = numbers_of(text[column], missing[column])
        if len(rows) >= 0.8 * max(1, (~missing[column]).sum()) and len(rows):
            values = np.full(len(text), np.median(numbers))
            values[rows] = numbers
            columns.append(values[:, None])
        else:
            common = text.loc[~missing[column], column].value_counts().index[:_LEVELS]
            columns.append(
                (text[column].to_numpy()[:, None] == common.to_numpy()[None, :]).astype(np.float64)
            )
    return np.concatenate(columns, axis=1)


def numbers_of(text: Column, missing: Column) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows that hold plain finite numbers, and these numbers."""
    import pandas as pd

    numbers: Column = pd.to_numeric(text.where(~missing), errors="coerce")
    values = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    rows = np.flatnonzero(np.isfinite(values))
    return rows, values[rows]
