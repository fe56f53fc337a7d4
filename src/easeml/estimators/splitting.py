"""Which rows a model learns from, and which it is chosen by."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
)

_HELD = 0.25  # of the rows, to choose by
_MOST_HELD = 20_000
_FOLDS = 4  # of cross-validation
_FOLDED_ROWS = 3000  # at most, for cross-validation
_LEAST_ROWS = 8  # from which rows are held out at all

Splits = list[tuple[np.ndarray, np.ndarray]]


def splits(answers: np.ndarray, groups: Any, kind: str, seed: int) -> Splits:
    """Return the places of the rows to learn from, and of those to choose by, by split.

    ``answers`` (n,) of a ``kind``: category or number. ``groups`` (n,): rows of one group stay on
    one side; None: there are none.
    """
    rows = len(answers)
    if rows < _LEAST_ROWS:
        return [(np.arange(rows), np.arange(rows))]  # too few to hold any out
    if groups is None:
        splitter = _splitter(answers, kind, seed)
    else:
        splitter = _group_splitter(groups, seed)
    return list(splitter.split(np.zeros((rows, 1)), answers, groups))


def _group_splitter(groups: Any, seed: int) -> GroupShuffleSplit | GroupKFold:
    """Return what divides rows such that those of a group stay together."""
    if len(groups) > _FOLDED_ROWS or len(np.unique(groups)) < _FOLDS:
        return GroupShuffleSplit(1, test_size=_HELD, random_state=seed)
    return GroupKFold(_FOLDS)


def _splitter(answers: np.ndarray, kind: str, seed: int) -> Any:
    """Return what divides rows: folds of few, one part of many; by class where these last."""
    rows = len(answers)
    least = _rarest(answers, kind)
    if rows > _FOLDED_ROWS:
        once = StratifiedShuffleSplit if least >= 2 else ShuffleSplit
        held = min(int(_HELD * rows), _MOST_HELD)
        return once(1, test_size=held, random_state=seed)
    folds = StratifiedKFold if least >= _FOLDS else KFold
    return folds(_FOLDS, shuffle=True, random_state=seed)


def _rarest(answers: np.ndarray, kind: str) -> int:
    """Return the rows of the rarest class; 0 where answers are numbers."""
    if kind != "category":
        return 0
    return int(np.unique(answers, return_counts=True)[1].min())
