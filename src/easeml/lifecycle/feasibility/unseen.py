"""Rows whose errors more rows may well take away: values that training rows hardly hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from easeml.lifecycle.feasibility.arms import Target
from easeml.lifecycle.feasibility.columns import Column
from easeml.lifecycle.feasibility.folds import Fold

RARE = 1  # a value that training rows hold so often, or less, is not learned yet
FEWEST_PAIRS = 60  # rows that share a value, below which nobody knows whether it decides
SURE = 2.0  # standard deviations above chance from which rows that share a value agree


def rows_with_rare_values(
    columns: Sequence[Column], target: Target, folds: Sequence[Fold]
) -> np.ndarray:
    """Return (evaluated rows,) True where a category that may decide has a value not learned yet.

    A category may decide if rows that share a value agree more than others do, or if too few share
    any to tell. Of the errors in these rows nothing can be said.
    """
    levels_of = [column.levels for column in columns if column.levels is not None]
    deciding = [levels for levels in levels_of if _may_decide(levels, target)]
    parts = []
    for fold in folds:
        rare = np.zeros(len(fold.test), dtype=bool)
        for levels in deciding:
            seen = np.bincount(levels[fold.train] + 1, minlength=int(levels.max()) + 2)
            rare |= seen[levels[fold.test] + 1] <= RARE
        parts.append(rare)
    return np.concatenate(parts)


def _may_decide(levels: np.ndarray, target: Target) -> bool:
    """Tell whether rows that share a value agree in the target more often than chance."""
    counts = np.bincount(levels[levels >= 0])
    pairs = float((counts * (counts - 1)).sum()) / 2
    if pairs < FEWEST_PAIRS:
        return True
    known = levels >= 0
    if not target.classes:
        values = target.values[known] - target.values[known].mean()
        sums = np.bincount(levels[known], values)
        squares = np.bincount(levels[known], values**2)
        agreement = float((sums**2 - squares).sum()) / 2 / pairs
        return agreement * np.sqrt(pairs) > SURE * values.var()
    agreeing = 0.0
    by_chance = 0.0
    for number in range(target.classes):
        mine = target.values[known] == number
        own = np.bincount(levels[known][mine], minlength=len(counts))
        agreeing += float((own * (own - 1)).sum()) / 2
        by_chance += float(mine.mean()) ** 2
    spread = np.sqrt(by_chance * (1 - by_chance) / pairs)
    return agreeing / pairs > by_chance + SURE * spread
