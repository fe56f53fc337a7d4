"""Whether two categories of many values say together what neither says alone.

Such as whether two hashes differ: no cell of a few rows shows it, and no learner here finds it. The
table of what is left of the target, by the values of both, then has a singular value that is larger
than of the same table with its labels shuffled.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from easeml.lifecycle.feasibility.columns import Column

MANY_VALUES = 8  # up to so many, cells of two columns hold every pair of values
MOST_VALUES = 300  # of a column, the most frequent: the others have few rows
MOST_COLUMNS = 4
MOST_CLASSES = 4
SHUFFLED = 39  # tables: one in 40 is as large by chance
_PASSES = 5  # over both columns, which leave almost nothing that one of them explains


def say_more_together(
    columns: Sequence[Column], target: np.ndarray, classes: int, rng: np.random.Generator
) -> bool:
    """Tell whether two categories explain more of the target together than each by itself.

    Wrongly so in one of 40 cases, over all pairs of columns and all classes.

    Args:
        columns: of the rows.
        target: (rows,) class numbers from 0.
        classes: their number, 2 or more.
        rng: shuffles.
    """
    coded = [levels for column in columns if (levels := _levels_of_many(column)) is not None]
    apart = min(classes, MOST_CLASSES)
    if classes == 2:
        apart = 1  # the other class says the same
    ratios = []
    for first, second in combinations(coded[:MOST_COLUMNS], 2):
        rows = (first >= 0) & (second >= 0)
        shared = first[rows], second[rows]
        for one in range(apart):
            left = _beyond_each(*shared, (target[rows] == one).astype(float))
            ratios.append(_largest(*shared, left, rng))
    if not ratios:
        return False
    largest = np.max(ratios, axis=0)
    return bool(largest[0] > largest[1:].max())


def _levels_of_many(column: Column) -> np.ndarray | None:
    """Return the values of a category that has many, -1 for rare ones; None for other columns."""
    if column.numbers is not None:
        return None
    assert column.levels is not None
    if column.levels.max() < MANY_VALUES:
        return None
    return np.where(column.levels < MOST_VALUES, column.levels, -1)


def _beyond_each(first: np.ndarray, second: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return what is left of values when the means by each of the columns are taken away."""
    left = values - values.mean()
    for _ in range(_PASSES):
        for levels in (first, second):
            sums = np.bincount(levels, left)
            counts = np.maximum(np.bincount(levels), 1)
            left = left - (sums / counts)[levels]
    return left


def _largest(
    first: np.ndarray, second: np.ndarray, left: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return the largest singular value of the table, and of shuffled ones, by their mean."""
    found = [_norm(first, second, left)]
    found += [_norm(first, second, rng.permutation(left)) for _ in range(SHUFFLED)]
    return np.array(found) / max(float(np.mean(found[1:])), 1e-12)


def _norm(first: np.ndarray, second: np.ndarray, left: np.ndarray) -> float:
    table = np.zeros((first.max(initial=0) + 1, second.max(initial=0) + 1))
    np.add.at(table, (first, second), left)
    return float(np.linalg.norm(table, 2))
